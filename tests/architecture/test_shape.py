"""The limits that keep a function, a class and a module readable in one sitting."""

from collections.abc import Callable, Iterator, Mapping

import pytest

from tests.architecture.exceptions import EXCEPTIONS
from tests.architecture.measure import (
    Finding,
    Function,
    Source,
    classes,
    decorators,
    functions,
    imports,
    is_dunder,
    length,
    methods,
    nesting,
    parameters,
    sources,
    words,
)

FUNCTION_LINES, USUAL_LINES, USUAL_SHARE = 60, 30, 0.9
MODULE_LINES, MODULE_IMPORTS = 400, 25
NESTING = 3
PARAMETERS, BY_POSITION = 6, 2
METHODS: Mapping[str, int] = {"Session": 24}
OTHER_METHODS = 15
VAGUE = {
    *("utils", "helpers", "common", "base", "core", "misc", "shared", "manager", "handler"),
    *("process", "data", "info", "do", "handle"),
}
# A constructor that takes a whole configuration is called with names, and a framework dictates its hooks.
CONFIGURED = ("Chat", "LayeredContext")
DICTATED = ("dec_hook", "enc_hook")


def long_functions(source: Source) -> Iterator[Finding]:
    """Functions over the limit."""
    for name, node, _ in functions(source):
        if (lines := length(source, node)) > FUNCTION_LINES:
            yield source.find(
                name,
                node.lineno,
                f"{lines} code lines, at most {FUNCTION_LINES}: split it by what it decides",
            )


def deep_functions(source: Source) -> Iterator[Finding]:
    """Functions whose blocks stand too deep."""
    for name, node, _ in functions(source):
        if (depth := nesting(node)) > NESTING:
            yield source.find(
                name,
                node.lineno,
                f"nested {depth} deep, at most {NESTING}: return early, or name the inner part",
            )


def wide_functions(source: Source) -> Iterator[Finding]:
    """Functions with too many parameters, or too many by position."""
    for name, node, owner in functions(source):
        total, by_position = parameters(node, owner)
        if dictated(node, owner.name if owner else ""):
            continue
        if total > PARAMETERS:
            says = f"{total} parameters, at most {PARAMETERS}: hand in what belongs together as one value"
            yield source.find(name, node.lineno, says)
        if by_position > BY_POSITION:
            says = f"{by_position} parameters by position, at most {BY_POSITION}: put `*` after the second"
            yield source.find(name, node.lineno, says)


def dictated(node: Function, owner: str) -> bool:
    """Whether someone else decided on a signature."""
    if owner and node.name == "__init__":
        return owner in CONFIGURED or owner.endswith("Model")
    ours = ("__init__", "__new__", "__call__")
    return node.name in DICTATED or "override" in decorators(node) or (is_dunder(node.name) and node.name not in ours)


def large_classes(source: Source) -> Iterator[Finding]:
    """Classes with too many methods."""
    for node in classes(source):
        count, limit = len(methods(node)), METHODS.get(node.name, OTHER_METHODS)
        if count > limit:
            yield source.find(node.name, node.lineno, f"{count} methods, at most {limit}: a second thing hides in it")


def long_modules(source: Source) -> Iterator[Finding]:
    """Modules over the limit."""
    if (lines := len(source.lines)) > MODULE_LINES:
        yield source.find("", lines, f"{lines} lines, at most {MODULE_LINES}: split it by subject")


def importing_modules(source: Source) -> Iterator[Finding]:
    """Modules that know too many others."""
    if (count := len(imports(source))) > MODULE_IMPORTS:
        yield source.find("", 1, f"{count} import statements, at most {MODULE_IMPORTS}: it does several things")


def vague_names(source: Source) -> Iterator[Finding]:
    """Names that could stand for anything."""
    parts = [part.removesuffix(".py") for part in source.path.split("/")]
    named = [(part, 1, words(part)) for part in parts]
    named += [(node.name, node.lineno, words(node.name)) for node in classes(source)]
    named += [(name, node.lineno, [node.name.strip("_")]) for name, node, _ in functions(source)]
    for name, line, its_words in named:
        for word in VAGUE.intersection(its_words):
            yield source.find(name, line, f"{word!r} in {name!r} could stand for anything: say what it is about")


RULES: Mapping[str, Callable[[Source], Iterator[Finding]]] = {
    "long-function": long_functions,
    "deep-function": deep_functions,
    "wide-function": wide_functions,
    "large-class": large_classes,
    "long-module": long_modules,
    "importing-module": importing_modules,
    "vague-name": vague_names,
}


def broken(rule: str) -> list[Finding]:
    """Everything in the source that breaks a rule, excepted or not."""
    return [finding for source in sources("src") for finding in RULES[rule](source)]


@pytest.mark.parametrize("rule", RULES)
def test_source_keeps_its_shape(rule: str) -> None:
    """Every function, class and module stays within the limits of shape."""
    left = [finding for finding in broken(rule) if (rule, finding.where) not in EXCEPTIONS]
    assert not left, "\n" + "\n".join(map(str, left))


def test_most_functions_are_short() -> None:
    """Nine functions in ten have at most thirty lines of code."""
    found = [
        (length(source, node), source, name, node) for source in sources("src") for name, node, _ in functions(source)
    ]
    longer = sorted((each for each in found if each[0] > USUAL_LINES), key=lambda each: -each[0])
    says = [str(source.find(name, node.lineno, f"{lines} code lines")) for lines, source, name, node in longer]
    allowed = len(found) * (1 - USUAL_SHARE)
    assert len(longer) <= allowed, "\n".join(
        [
            f"{len(longer)} of {len(found)} functions have over {USUAL_LINES} code lines, the longest first:",
            *says,
        ]
    )


def test_exceptions_are_needed() -> None:
    """An exception that the source no longer needs is deleted, and each has a reason."""
    needed = {(rule, finding.where) for rule in RULES for finding in broken(rule)}
    stale = [key for key in EXCEPTIONS if key not in needed]
    assert not stale, f"delete from tests/architecture/exceptions.py: {stale}"
    assert all(reason.strip() for reason in EXCEPTIONS.values())
