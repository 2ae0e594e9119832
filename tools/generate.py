"""Writes the generated files: docs/journal.md and docs/errors.md, and by tools/blocking.py the blocking facade.

What a person writes stands in tools/pages; what the source already says is put in where `{{…}}` stands there.
`tests/docs` fails when a page in docs/ is not what this program gives.
"""

import inspect
import re
import types
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

import msgspec

from antiphon import _messages, errors
from antiphon._usage import Usage
from antiphon.journal import Failure, Origin, _entries
from antiphon.journal._entries import COMMUTING, TYPES, VERSION
from antiphon.journal._lifecycle import _DECISIONS, CALLS, PHASES
from tools import blocking

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("journal.md", "errors.md")
NOTE = "<!-- Generated from tools/pages/{name} and the source by `./dev generate`: change it there. -->\n\n"
PARTS = get_args(_messages.Part)
OBJECTS = (_messages.Message, *PARTS, Usage, Failure, Origin)

# Whether a reply holds calls, and which result is the last, no table of classes can say.
BY_CALLS = (("running", "calling", "model.replied with calls"), ("calling", "running", "the last tool.returned"))

SAMPLES: Mapping[str, Any] = {
    "session_id": "ana-1",
    "turn_id": "t1",
    "name": "search",
    "offered": ["search_orders", "shell"],
    "faults": ["'query' is missing"],
    "seconds": 30.0,
    "summarizer": "local:smollm2",
    "where": "chats",
    "after": "e9",
    "rule": "it begins with a dot",
    "version": 2,
    "line": 12,
    "why": "no space left on device",
    "expected": "e1",
    "found": "the answer's own words",
    "what": "a name was given twice",
    "advice": "give it once",
    "model": "openai:gpt-x",
    "status": 429,
    "retry_after": 2.5,
    "extra": "local",
    "needed_for": "local:smollm2",
    "window": 8_192,
    "needed": 9_000,
    "sizes": {"instructions": 900, "input": 7_076, "reply": 1_024},
    "kind": "Overloaded",
    "text": "model 'openai:gpt-x' is overloaded; try again later",
    "reason": "changed my mind",
    "entry_type": "turn.completed",
    "path": "metadata.price",
}
OTHER_SAMPLES: Mapping[str, Mapping[str, Any]] = {
    "InvalidSessionId": {"session_id": ".x"},
    "CorruptJournal": {"where": "chats/ana-1.jsonl", "why": "not an entry: not JSON"},
    "UnsupportedVersion": {"where": "chats/ana-1.jsonl"},
    "JournalMoved": {"found": "e2"},
    "AppendUncertain": {"why": "the sync failed"},
    "StoreUnreadable": {"why": "permission denied"},
    "Overloaded": {"status": 529},
    "Unreachable": {"status": None, "found": "connection refused"},
    "McpServerDown": {"name": "git", "why": "it exited with 1", "during_call": False},
    "ToolDenied": {"why": "deny: 'search'"},
    "TurnOver": {"what": "steered"},
    "IllegalEntry": {"why": "turn 't1' is completed"},
    "NotStorable": {"advice": "", "found": "nan"},
}


def pages() -> dict[Path, str]:
    """Every generated page and its text."""
    return {ROOT / "docs" / name: page(name) for name in PAGES}


def page(name: str) -> str:
    """One page, from its template."""
    filled: Mapping[str, Callable[[], str]] = {
        "version": lambda: str(VERSION),
        "head": head_table,
        "conversation": lambda: entry_table(named_in("Facts of the conversation:")),
        "run": lambda: entry_table(named_in("Facts of the run:")),
        "objects": object_table,
        "turn_diagram": turn_diagram,
        "phases": phase_table,
        "call_diagram": call_diagram,
        "tree": tree,
        "groups": groups,
    }
    template = (ROOT / "tools" / "pages" / name).read_text(encoding="utf-8")
    return NOTE.format(name=name) + re.sub(r"\{\{(\w+)\}\}", lambda found: filled[found[1]](), template)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in Markdown."""
    columns = [*head]
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


# --- the journal ----------------------------------------------------------------------------------------------


def named_in(heading: str) -> list[str]:
    """The types that the docstring of the entries' module lists under a heading."""
    doc = " ".join((_entries.__doc__ or "").split())
    listed = [*re.findall(r"\b[a-z]+\.[a-z]+\b", doc)]
    missing = set(TYPES) ^ set(listed)
    if missing:
        raise SystemExit(f"the docstring of journal/_entries.py and the entry classes differ in {sorted(missing)}")
    return [*re.findall(r"\b[a-z]+\.[a-z]+\b", doc.split(heading)[1].split(". ")[0])]


def head_table() -> str:
    """The fields of every entry."""
    said = {
        "type": "one of the types below",
        "version": f"{VERSION}",
        "id": "UUID of version 7 in entries of ours; any text that is unique in the journal",
        "sessionId": "the session, the same in every line",
        "at": "ISO 8601, UTC, milliseconds; for people to read, never for order",
    }
    return table(("field", ""), ((f"`{name}`", words) for name, words in said.items()))


def entry_table(names: Iterable[str]) -> str:
    """Entries with their fields and what they say."""
    rows = []
    for name in names:
        cls = TYPES[name]
        own = [each for each in msgspec.structs.fields(cls) if each.name not in _entries._Entry.__struct_fields__]
        says = first_words(cls) + (" Commutes." if cls in COMMUTING else "")
        rows.append((f"`{name}`", ", ".join(map(field_words, own)), says))
    return table(("type", "fields", ""), rows)


def object_table() -> str:
    """The objects that stand inside entries."""
    rows = []
    for cls in OBJECTS:
        tag = cls.__struct_config__.tag
        head = f'{cls.__name__} (`"type": "{tag}"`)' if tag else cls.__name__
        rows.append((head, ", ".join(map(field_words, msgspec.structs.fields(cls))), first_words(cls)))
    return table(("object", "fields", ""), rows)


def field_words(each: msgspec.structs.FieldInfo) -> str:
    """A field's name and what it holds."""
    mark = "" if each.required else "?"
    return f"`{each.encode_name}{mark}` {type_words(each.type)}"


def type_words(wanted: Any) -> str:
    """What a field holds, in words."""
    simple = {str: "text", int: "whole number", float: "number", bool: "true or false", msgspec.Raw: "JSON"}
    if wanted in simple:
        return simple[wanted]
    if wanted == _messages.Part:
        return "part"
    options = get_args(wanted)
    if get_origin(wanted) is Literal:
        return " or ".join(f"`{option}`" for option in options)
    if get_origin(wanted) in (Union, types.UnionType):
        known = [type_words(option) for option in options if option is not type(None)]
        return "number" if known == ["whole number", "number"] else " or ".join(known)
    if get_origin(wanted) is tuple:
        return f"list of {type_words(options[0])}s".replace("texts", "text")
    return str(wanted.__name__)


def first_words(cls: type[Any]) -> str:
    """The first paragraph of a class's docstring."""
    return " ".join((inspect.getdoc(cls) or "").split("\n\n")[0].split())


def turn_diagram() -> str:
    """The life of a turn as a diagram."""
    moves: dict[tuple[str, str], list[str]] = {}
    for phase, following in PHASES.items():
        for cls, next_phase in following.items():
            moves.setdefault((phase, next_phase), []).append(_entries.entry_type(cls))
    for before, then, words in BY_CALLS:
        moves.setdefault((before, then), []).append(words)
    return diagram(moves, start="absent")


def phase_table() -> str:
    """Which entries may follow in which phase."""
    rows = (
        (phase, ", ".join(f"`{_entries.entry_type(cls)}`" for cls in following)) for phase, following in PHASES.items()
    )
    return table(("a turn that is", "takes"), rows)


def call_diagram() -> str:
    """The life of a call as a diagram."""
    moves: dict[tuple[str, str], list[str]] = {}
    for phase, following in CALLS.items():
        for cls, then in following.items():
            name = _entries.entry_type(cls)
            if name == "tool.decided":
                for decision, decided in _DECISIONS.items():
                    moves.setdefault((phase, decided), []).append(f"{name} ({decision})")
            else:
                moves.setdefault((phase, then), []).append(name)
    return diagram({("absent", "called"): ["model.replied"], **moves}, start="absent")


def diagram(moves: Mapping[tuple[str, str], Iterable[str]], *, start: str) -> str:
    """A mermaid diagram of moves between states."""
    lines = [
        f"    {'[*]' if before == start else before} --> {then}: {', '.join(names)}"
        for (before, then), names in moves.items()
    ]
    leaving = {before for before, then in moves if before != then}
    last = dict.fromkeys(then for _, then in moves if then not in leaving)
    return "\n".join(["```mermaid", "stateDiagram-v2", *lines, *(f"    {state} --> [*]" for state in last), "```"])


# --- errors ---------------------------------------------------------------------------------------------------


def below(cls: type[Any]) -> list[type[errors.AntiphonError]]:
    """The classes right below one, in the order of the source."""
    ours = (each for each in vars(errors).values() if inspect.isclass(each) and issubclass(each, errors.AntiphonError))
    return [each for each in ours if each.__base__ is cls]


def tree(cls: type[Any] = errors.AntiphonError, indent: str = "") -> str:
    """All classes, each below the one it extends."""
    return "\n".join([indent + cls.__name__, *(tree(each, indent + "    ") for each in below(cls))])


def groups() -> str:
    """A section for each branch of the tree."""
    sections = []
    for group in below(errors.AntiphonError):
        rows = [(f"`{cls.__name__}`", first_words(cls), sentence(cls)) for cls in (group, *below(group))]
        sections.append(f"## {group.__name__}\n\n" + table(("class", "when", "sentence"), rows))
    return "\n\n".join(sections)


def sentence(cls: type[errors.AntiphonError]) -> str:
    """What an error of this class says, from sample facts; nothing for one that takes no facts."""
    wanted = inspect.signature(cls.__init__).parameters.values()
    named = [each.name for each in wanted if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)]
    samples = {**SAMPLES, **OTHER_SAMPLES.get(cls.__name__, {})}
    facts = {name: samples[name] for name in named if name != "self"}
    if not facts:
        return ""
    if issubclass(cls, errors.ModelError) and not cls.retryable:
        facts = {name: value for name, value in facts.items() if name not in ("status", "retry_after")}
    return str(cls(**facts))


def main() -> None:
    """Write every page, and the facade."""
    for path, text in [*pages().items(), (blocking.PATH, blocking.generated())]:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
