"""Every error that Antiphon raises, as one tree.

    AntiphonError
    ├ StoreError      SessionExists · SessionNotFound · UnknownCursor · InvalidSessionId · UnsupportedVersion
    │                 CorruptJournal · JournalMoved · AppendFailed · AppendUncertain · StoreUnreadable
    ├ SessionError    SessionBusy · TurnOver · SessionClosed
    ├ ModelError      RateLimited · Overloaded · Unreachable · BadCredentials · Refused · InvalidRequest
    │                 ContextTooLong · MalformedReply · PullFailed · UnknownModel · MissingExtra
    ├ ToolError       UnknownTool · InvalidArguments · ToolDenied · ToolTimeout · McpServerDown
    ├ ContextError    WindowTooSmall · SummaryFailed
    ├ TurnError       TurnFailed · TurnCanceled · TurnInterrupted
    └ Misuse          IllegalEntry · NotStorable

A class takes facts and makes its own sentence. Facts are attributes; none of them is ever a key, a header or the
text of a message. Every error survives pickle and copy.
"""

from __future__ import annotations

from ._errors import AntiphonError as AntiphonError
from ._tool_errors import InvalidArguments as InvalidArguments
from ._tool_errors import McpServerDown as McpServerDown
from ._tool_errors import ToolDenied as ToolDenied
from ._tool_errors import ToolError as ToolError
from ._tool_errors import ToolTimeout as ToolTimeout
from ._tool_errors import UnknownTool as UnknownTool

# --- the store ------------------------------------------------------------------------------------------------


class StoreError(AntiphonError):
    """A journal could not be read or written."""


class SessionExists(StoreError):
    """A session was to be created under an id that is taken."""

    def __init__(self, session_id: str, where: str) -> None:
        self.session_id, self.where = session_id, where
        super().__init__(f"chat session {session_id!r} already exists in {where}; open it, or choose another id")


class SessionNotFound(StoreError):
    """No session has this id, or it belongs to another scope: the two read the same on purpose."""

    def __init__(self, session_id: str, where: str) -> None:
        self.session_id, self.where = session_id, where
        super().__init__(f"no chat session {session_id!r} in {where}")


class UnknownCursor(StoreError):
    """`read(after=…)` was given an entry id that the journal does not hold."""

    def __init__(self, session_id: str, after: str) -> None:
        self.session_id, self.after = session_id, after
        super().__init__(f"no entry {after!r} in chat session {session_id!r}; read it from the start")


class InvalidSessionId(StoreError):
    """The store cannot hold a session under this id."""

    def __init__(self, session_id: str, rule: str) -> None:
        self.session_id, self.rule = session_id, rule
        super().__init__(f"{session_id!r} is not a session id that this store can hold: {rule}")


class UnsupportedVersion(StoreError):
    """An entry is of a newer journal format than this library reads."""

    def __init__(self, version: object, *, where: str = "the journal", line: int | None = None) -> None:
        self.version, self.where, self.line = version, where, line
        place = where if line is None else f"{where}, line {line}"
        super().__init__(f"{place}: journal version {version!r}, but this antiphon reads version 1; upgrade antiphon")


class CorruptJournal(StoreError):
    """A journal holds something that no writer of ours wrote. Nothing is repaired or skipped in silence."""

    def __init__(self, where: str = "the journal", line: int | None = None, *, why: str) -> None:
        self.where, self.line, self.why = where, line, why
        place = where if line is None else f"{where}, line {line}"
        readable = "" if line is None else f"; {_readable(line - 1)}"
        super().__init__(f"{place}: {why}{readable}")


def _readable(before: int) -> str:
    if before == 0:
        return "nothing before it is readable"
    return "the line before it is readable" if before == 1 else f"the {before} lines before it are readable"


class JournalMoved(StoreError):
    """The journal's last entry is not the one the writer expected: someone else has written."""

    def __init__(self, session_id: str = "?", *, expected: str | None = None, found: str | None = None) -> None:
        self.session_id, self.expected, self.found = session_id, expected, found
        super().__init__(
            f"chat session {session_id!r} has moved on: its last entry is {found!r}, not {expected!r};"
            " read what came and try again"
        )


class AppendFailed(StoreError):
    """Nothing of the batch was kept."""

    def __init__(self, session_id: str, why: str) -> None:
        self.session_id, self.why = session_id, why
        super().__init__(f"chat session {session_id!r} could not be written, nothing was kept: {why}")


class AppendUncertain(StoreError):
    """The batch may or may not have been kept; reading the journal tells."""

    def __init__(self, session_id: str, why: str) -> None:
        self.session_id, self.why = session_id, why
        super().__init__(
            f"chat session {session_id!r} may or may not have been written: {why}; read the journal to find out"
        )


class StoreUnreadable(StoreError):
    """The place where journals are kept cannot be used."""

    def __init__(self, where: str, why: str) -> None:
        self.where, self.why = where, why
        super().__init__(f"the store {where} cannot be used: {why}")


# --- sessions -------------------------------------------------------------------------------------------------


class SessionError(AntiphonError):
    """A session or a turn cannot take what was asked of it now."""


class SessionBusy(SessionError):
    """A turn of this session is running.

    Attributes:
        turn_id: the running turn, or None if it runs in another process.
    """

    def __init__(self, session_id: str, *, turn_id: str | None = None) -> None:
        self.session_id, self.turn_id = session_id, turn_id
        what = "another writer holds it" if turn_id is None else f"turn {turn_id!r} is running"
        super().__init__(f"chat session {session_id!r} is busy: {what}; wait for it, or steer or cancel it")


class TurnOver(SessionError):
    """The turn has ended, or its outcome is being written: it takes nothing more."""

    def __init__(self, turn_id: str, what: str = "steered") -> None:
        self.turn_id, self.what = turn_id, what
        super().__init__(f"turn {turn_id!r} is over and cannot be {what}; send a new turn")


class SessionClosed(SessionError):
    """The Chat was closed."""

    def __init__(self, session_id: str | None = None) -> None:
        self.session_id = session_id
        what = "the Chat" if session_id is None else f"the Chat of session {session_id!r}"
        super().__init__(f"{what} is closed; make a new Chat and open the session again")


# --- models ---------------------------------------------------------------------------------------------------


class ModelError(AntiphonError):
    """A model call failed.

    Attributes:
        model: the model as the caller named it.
        retryable: whether the same request may succeed later.
        status: the HTTP status, or None.
        retry_after: seconds the provider asked to wait, or None.
    """

    retryable = False
    problem = "failed"
    advice = ""

    def __init__(
        self, model: str, found: str = "", *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        self.model, self.found, self.status, self.retry_after = model, found, status, retry_after
        numbered = f" (HTTP {status})" if status is not None else ""
        told = f": {found}" if found else ""
        advice = f"; {self.advice}" if self.advice else ""
        super().__init__(f"model {model!r} {self.problem}{numbered}{told}{advice}")


class RateLimited(ModelError):
    """The provider refused because too much was asked in a short time."""

    retryable = True
    problem = "is rate limited"
    advice = "try again later"


class Overloaded(ModelError):
    """The provider or the model is overloaded or broken for now."""

    retryable = True
    problem = "is overloaded"
    advice = "try again later"


class Unreachable(ModelError):
    """No connection, or it broke before the reply was complete."""

    retryable = True
    problem = "could not be reached"
    advice = "check that the server is running and the address is right"


class BadCredentials(ModelError):
    """The key is missing, wrong or without the right."""

    problem = "refused the credentials"
    advice = "check the key and what it may use"


class Refused(ModelError):
    """The provider's policy refused the content."""

    problem = "refused to answer"


class InvalidRequest(ModelError):
    """The provider says the request is malformed."""

    problem = "says the request is invalid"


class ContextTooLong(ModelError):
    """The provider says the request is longer than the model's window."""

    problem = "says the request is longer than its window"
    advice = "use a smaller window or a shorter input"


class MalformedReply(ModelError):
    """The reply was not what the protocol promises."""

    problem = "gave a reply that cannot be read"


class PullFailed(ModelError):
    """A model's file could not be fetched, or what came is not that file; nothing of it is kept."""

    problem = "could not be pulled"


class UnknownModel(ModelError):
    """No model has this name."""

    problem = "is not known"
    advice = "`antiphon models` lists what can be used here"


class MissingExtra(ModelError):
    """An optional part that this needs is not installed.

    Attributes:
        extra: the name in brackets, as in `pip install 'antiphon[local]'`.
    """

    def __init__(self, extra: str, *, needed_for: str) -> None:
        self.extra, self.needed_for = extra, needed_for
        super().__init__(needed_for)
        self.args = (f"{needed_for} needs an optional part; install it: pip install 'antiphon[{extra}]'",)


# --- contexts -------------------------------------------------------------------------------------------------


class ContextError(AntiphonError):
    """What the model is to be shown could not be built."""


class WindowTooSmall(ContextError):
    """What must be sent does not fit; raised before any paid call.

    Attributes:
        window: tokens the model can hold, reply included.
        needed: tokens of what must be sent, reserve and margin included.
        sizes: tokens by layer id.
    """

    def __init__(self, window: int, needed: int, *, sizes: dict[str, int]) -> None:
        self.window, self.needed, self.sizes = window, needed, sizes
        listed = ", ".join(f"{name} {tokens:,}" for name, tokens in sizes.items())
        super().__init__(
            f"the window holds {window:,} tokens, but {needed:,} are needed ({listed});"
            " use a larger window, or send less"
        )


class SummaryFailed(ContextError):
    """No summary could be written; what it was to cover is as it was."""

    def __init__(self, summarizer: str, why: str) -> None:
        self.summarizer, self.why = summarizer, why
        super().__init__(f"summarizer {summarizer!r} wrote no summary: {why}")


# --- turns ----------------------------------------------------------------------------------------------------


class TurnError(AntiphonError):
    """A turn ended without a reply."""


class TurnFailed(TurnError):
    """A turn of which only the journal is at hand ended in an error."""

    def __init__(self, turn_id: str, kind: str, *, text: str) -> None:
        self.turn_id, self.kind, self.text = turn_id, kind, text
        super().__init__(f"turn {turn_id!r} failed: {kind}: {text}")


class TurnCanceled(TurnError):
    """The turn was canceled.

    Attributes:
        reason: what `cancel(reason)` was given, or None.
    """

    def __init__(self, turn_id: str, reason: str | None = None) -> None:
        self.turn_id, self.reason = turn_id, reason
        super().__init__(f"turn {turn_id!r} was canceled" + (f": {reason}" if reason else ""))


class TurnInterrupted(TurnError):
    """The turn has no outcome: the process ended, or the outcome could not be written."""

    def __init__(self, turn_id: str) -> None:
        self.turn_id = turn_id
        super().__init__(f"turn {turn_id!r} was interrupted before it had an outcome; retry it")


# --- misuse ---------------------------------------------------------------------------------------------------


class Misuse(AntiphonError):
    """The library was called in a way that cannot work."""

    def __init__(self, what: str, advice: str = "") -> None:
        self.what, self.advice = what, advice
        super().__init__(f"{what}; {advice}" if advice else what)


class IllegalEntry(Misuse):
    """A writer put an entry where the turn's state table does not allow it: a bug of ours."""

    def __init__(self, entry_type: str, why: str) -> None:
        self.entry_type, self.why = entry_type, why
        super().__init__(f"entry {entry_type!r} cannot be written here: {why}", "this is a bug in antiphon, report it")


class NotStorable(Misuse):
    """A value cannot be kept as JSON.

    Attributes:
        path: where it stands, as in `metadata.price`.
        found: what stands there.
    """

    def __init__(self, path: str, found: str, *, advice: str = "") -> None:
        self.path, self.found = path, found
        json = "give text, finite numbers, booleans, None, lists, and dicts with text keys"
        super().__init__(f"{path} holds {found}, which a journal cannot keep", advice or json)
