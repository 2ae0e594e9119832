"""Catching everything is for the places where unknown code runs."""

import re

from tests.architecture.measure import broad_excepts, sources

REASON = re.compile(r"# isolates: \S")


def test_broad_except_says_what_it_isolates() -> None:
    """Who catches everything names the unknown code it isolates, on that line."""
    wrong = [
        f"{source.path}:{line}: catch what can be named, or say `# isolates: …` and whose code runs here"
        for source in sources("src", generated=True)
        for line in broad_excepts(source)
        if not REASON.search(source.lines[line - 1])
    ]
    assert not wrong, "\n" + "\n".join(wrong)
