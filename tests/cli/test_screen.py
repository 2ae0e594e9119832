"""Screens and tables: styles only for people, and nothing that acts gets through."""

import io
import json
from pathlib import Path

from antiphon.cli._screen import Ink, Screen
from antiphon.cli._table import laid_out
from tests.cli.running import Terminal


class Looked(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        """Yes."""
        return True


def written(stream: io.StringIO) -> str:
    """What one styled line, with an escape sequence in it, becomes."""
    Screen(stream).line("a ", Ink("b\x1b[2J", "red"))
    return stream.getvalue()


def test_styles_are_for_terminals() -> None:
    """A style is written to a terminal and to nothing else; the text is made visible in both."""
    assert written(io.StringIO()) == "a b\\x1b[2J\n"
    assert written(Looked()) in ("a \x1b[31mb\\x1b[2J\x1b[0m\n", "a b\\x1b[2J\n")


def test_no_color_is_heeded(terminal: Terminal) -> None:
    """With NO_COLOR set a terminal gets no style either."""
    program = "import io\nfrom tests.cli.test_screen import Looked, written\nprint(repr(written(Looked())))"
    terminal.env |= {"NO_COLOR": "1", "TERM": "xterm"}
    assert terminal.run_apart(program=program, cwd=Path(__file__).parents[2]).out == "'a b\\\\x1b[2J\\n'\n"


def test_pieces_and_lines_are_kept_apart() -> None:
    """A line that pieces left open is ended once, and one that they ended is not ended again."""
    stream = io.StringIO()
    screen = Screen(stream)
    for piece in ("a", "b\n"):
        screen.piece(piece)
        screen.end_line()
        screen.end_line()
    assert stream.getvalue() == "a\nb\n"


def test_json_is_ascii() -> None:
    """JSON goes out in ASCII, lone surrogates and control characters escaped."""
    stream = io.StringIO()
    Screen(stream).json({"text": "é\ud800\x9b\x1b"})
    assert stream.getvalue().isascii()
    assert json.loads(stream.getvalue()) == {"text": "é\ud800\x9b\x1b"}


def test_a_table_fits_a_terminal() -> None:
    """The last column is cut to the terminal's width, or goes below its row where it would be too narrow."""
    rows = [["id", "title"], ["x" * 30, "t" * 90], ["y", ""]]
    wide, narrow = laid_out(rows, width=80), laid_out(rows, width=40)
    assert ["".join(map(str, line)) for line in wide][1] == "x" * 30 + "  " + "t" * 47 + "…"
    assert ["".join(map(str, line)) for line in narrow] == ["id", "x" * 30, "  " + "t" * 37 + "…", "y"]
    assert "t" * 90 in laid_out(rows, width=None)[1]
