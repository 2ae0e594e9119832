"""Holds the token estimate against an exact count of o200k, class by class, and writes the table in docs/tokens.md.

    .venv/bin/python -m tools.token_errors

The corpus is `tests/context/token_corpus.py`.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from antiphon.context._families import counter_for, exact_counter
from tests.context.token_corpus import corpus

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tokens.md"
BEGIN, END = "<!-- the table is written by tools/token_errors.py -->\n", "<!-- end of the table -->\n"
MODEL = "gpt-5"


@dataclass(frozen=True)
class Row:
    """One class of text.

    Attributes:
        name: the class.
        density: characters a token.
        bias: by how much the estimate of all its texts together is above (or, negative, below) the count.
        error: the mean of how far off the estimate of one text is, above or below.
        quarter: the same, of a quarter of the characters.
    """

    name: str
    density: float
    bias: float
    error: float
    quarter: float


def rows() -> list[Row]:
    """Measure every class, in the order of names."""
    return [_row(name, texts) for name, texts in sorted(corpus().items())]


def _row(name: str, texts: list[str]) -> Row:
    exact, estimate = exact_counter(MODEL), counter_for(MODEL)
    tokens, estimated = [exact(text) for text in texts], [estimate(text) for text in texts]
    return Row(
        name,
        sum(map(len, texts)) / sum(tokens),
        sum(estimated) / sum(tokens) - 1,
        fmean(abs(guess / count - 1) for guess, count in zip(estimated, tokens, strict=True)),
        fmean(abs(len(text) / 4 / count - 1) for text, count in zip(texts, tokens, strict=True)),
    )


FAR_OFF = {
    "amharic": "each byte counts as a token, on purpose: vocabularies have hardly a piece of it",
    "boxes and arrows": "long runs of one sign are one token",
    "csv of numbers": "signs and digits in turn",
    "czech": "words in pieces, in letters that English has too",
    "dutch": "words in pieces, in letters that English has too",
    "finnish": "words in pieces, in letters that English has too",
    "italian": "words in pieces, in letters that English has too",
    "java": "long names, of which each word is one token",
    "mathematics": "rare signs of two and three tokens",
    "polish": "words in pieces, in letters that English has too",
    "shell": "signs, each with a token of its own",
    "ukrainian": "words in pieces, in letters that Russian has too",
}
"""Classes of which an estimate may be more than 18 % off, and why."""


def table(found: list[Row]) -> str:
    """The table in Markdown, the means at its end."""
    lines = ["| class | characters a token | bias | mean error | of characters / 4 |", "|---|---|---|---|---|"]
    lines += [
        f"| {row.name} | {row.density:.2f} | {row.bias:+.0%} | {row.error:.0%} | {row.quarter:.0%} |" for row in found
    ]
    near = [row for row in found if row.name not in FAR_OFF]
    for some, what in ((found, f"all {len(found)} classes"), (near, f"without the {len(FAR_OFF)} named below")):
        mean, quarter = fmean(row.error for row in some), fmean(row.quarter for row in some)
        lines.append(f"| **mean, {what}** | | | **{mean:.1%}** | {quarter:.0%} |")
    return "\n".join(lines) + "\n\n" + "\n".join(f"- {name}: {why}" for name, why in FAR_OFF.items()) + "\n"


def main() -> None:
    """Write the table into the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(before + BEGIN + table(rows()) + END + rest.partition(END)[2], "utf-8")
    print(table(rows()))


if __name__ == "__main__":
    main()
