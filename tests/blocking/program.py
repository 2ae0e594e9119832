"""A user's program. `./dev check` reads it with mypy --strict: what is given is typed, and never Any."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import assert_type

from antiphon import Event, FileStore, FullContext, Reply, SessionSummary, Shown, Trace, Turn, TurnRequest, View
from antiphon._jsonable import Jsonable
from antiphon.blocking import Chat, LiveTurn, Session, State
from antiphon.journal import Entry


def answer(request: TurnRequest) -> str:
    """Answer, without async."""
    return f"you said {request.messages[-1].text}"


def pieces(request: TurnRequest) -> Iterator[str]:
    """Answer in pieces."""
    yield from answer(request).split()


def nothing(view: View) -> Sequence[Mapping[str, str]]:
    """A context that shows only the input."""
    return []


def main(folder: Path) -> list[str]:
    """Talk, look back, and give the texts."""
    with Chat(
        responder=answer, store=FileStore(folder), instructions="Answer in French.", context=FullContext()
    ) as chat:
        session = assert_type(chat.open_session("ana-1", create=True), Session)
        reply = assert_type(session.ask("Where is order 17?", key="msg-81"), Reply)
        assert_type(session.traces()[-1], Trace)
        rows = assert_type([row for trace in session.traces() for row in trace.rows()], list[dict[str, Jsonable]])
        turn = assert_type(session.send("And 18?", metadata={"page": 2}), LiveTurn)
        texts = assert_type(list(turn.text_stream), list[str])
        assert_type(list(turn), list[Event])
        assert_type(turn.result(), Reply)
        assert_type(session.preview("And August?").trace, Trace)
        assert_type(session.preview("And August?", context=nothing), Shown)
        assert_type(session.state, State)
        assert_type(session.fork(), Session)
        assert_type(session.live_turn, LiveTurn | None)
        assert_type(list(session.journal()), list[Entry])
        assert_type(list(chat.sessions()), list[SessionSummary])
        assert_type(session.turns(), Sequence[Turn])
    return [str(reply), "".join(texts), *(str(row["layer"]) for row in rows)]
