"""What OpenAI, and servers that call themselves compatible, say when they do not answer, as errors of ours. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from ...errors import (
    BadCredentials,
    ContextTooLong,
    InvalidRequest,
    ModelError,
    Overloaded,
    RateLimited,
    Refused,
    UnknownModel,
)
from .._transport import Answer

LONGEST = 300
"""Characters of a server's own words that an error repeats."""

_TOO_LONG_CODES = {"context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"}
# Each is how a server says it: OpenAI, llama.cpp, vLLM, LM Studio, Mistral, Ollama, xAI, Groq, Copilot, Kimi and those
# that stand before Anthropic's, Google's and MiniMax's models; collected in pi-mono, packages/ai/src/utils/overflow.ts.
_TOO_LONG = re.compile(
    r"maximum context length|context length (is|of) only|exceeds? the (available )?context"
    r"|context size has been exceeded"
    r"|exceed the configured limit of \d+ tokens|too large for model with \d+ maximum|greater than the context length"
    r"|longer than the context length|exceeds the context (length|window)|maximum prompt length is"
    r"|reduce the length of the (messages|input|prompt)|exceeds the limit of \d|exceeded model token limit"
    r"|prompt is too long|prompt too long|input is too long|exceeds the maximum number of tokens"
    r"|exceeded (max )?context length|context window exceeds|request too large for model",
    re.IGNORECASE,
)
_POLICY_CODES = {"content_policy_violation", "content_filter", "responsibleaipolicyviolation", "invalid_prompt"}
_POLICY = re.compile(r"content management policy|content policy|violat\w* our usage polic|safety system", re.IGNORECASE)
_NO_MODEL = re.compile(r"\bmodel\b.{0,200}\b(does not exist|not found|is not available)", re.IGNORECASE | re.DOTALL)
_KEY_CODES = {"invalid_api_key", "authentication_error", "permission_error", "invalid_authentication_error"}
_TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Told:
    """What a server says went wrong: a sentence, and its code and type in lower case; each may be empty."""

    message: str = ""
    code: str = ""
    type: str = ""

    @property
    def words(self) -> set[str]:
        """Code and type."""
        return {self.code, self.type}


def refusal(model: str, answer: Answer, *, address: str, hide: Callable[[str], str]) -> ModelError:
    """Give the error of an answer with another status than success.

    Args:
        model: how errors call the model.
        answer: what came.
        address: where it was asked for, without anything secret.
        hide: takes out of the server's words what must not be repeated.
    """
    status = answer.status
    if 300 <= status < 400:
        return InvalidRequest(model, f"{address} sends elsewhere, and redirects are not followed", status=status)
    told = told_by(answer.body)
    kind = error_class(told, status, empty=not answer.body.strip())
    found = _shortened(hide(told.message))
    if kind is InvalidRequest and status == 404:
        found = f"nothing answers at {address}; a base_url usually ends in /v1" + (f" ({found})" if found else "")
    if kind is ContextTooLong and not found:
        found = "it was refused without a word, as one that is too long is"
    error = kind(model, found, status=status, retry_after=answer.retry_after)
    # Asking again does not fill an account.
    if "insufficient_quota" in told.words:
        error.retryable = False
    return error


def error_in_stream(model: str, chunk: Mapping[str, Any], *, hide: Callable[[str], str] = str) -> ModelError | None:
    """Give the error that a chunk of a stream, or a body with status 200, holds in the place of a reply, or None."""
    told = _told_in(chunk)
    if told is None:
        return None
    number = int(told.code) if told.code.isdigit() and len(told.code) == 3 else None
    return error_class(told, number)(model, _shortened(hide(told.message)), status=number)


def error_class(told: Told, status: int | None, *, empty: bool = False) -> type[ModelError]:
    """Decide which error it is.

    Args:
        told: what the server says.
        status: the HTTP status, or None within a stream.
        empty: whether there was no body at all: Cerebras says so that a request is too long.
    """
    if _is_too_long(told, status, empty=empty):
        return ContextTooLong
    if status in (401, 403) or told.words & _KEY_CODES:
        return BadCredentials
    if told.words & _POLICY_CODES or _POLICY.search(told.message):
        return Refused
    if status == 429 or any("rate_limit" in word for word in told.words) or "insufficient_quota" in told.words:
        return RateLimited
    if told.code == "model_not_found" or (status == 404 and _NO_MODEL.search(told.message)):
        return UnknownModel
    if status is None:
        return InvalidRequest if "invalid_request_error" in told.words else Overloaded
    return Overloaded if status in (408, 409) or status >= 500 else InvalidRequest


def _is_too_long(told: Told, status: int | None, *, empty: bool) -> bool:
    if status in (401, 403, 404, 429):
        return False
    silent = empty and status == 400
    return status == 413 or silent or bool(told.words & _TOO_LONG_CODES) or bool(_TOO_LONG.search(told.message))


def told_by(body: bytes) -> Told:
    """Read a body that says what went wrong, in any of the forms that are about."""
    text = body.decode("utf-8", "replace").strip()
    try:
        found = msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, RecursionError):
        found = text
    if isinstance(found, list) and found:
        found = found[0]
    if not isinstance(found, dict):
        return Told(_plain(text))
    return _told_in(found) or Told(_plain(str(found.get("detail") or "")))


def _told_in(found: Mapping[str, Any]) -> Told | None:
    error = found.get("error")
    if isinstance(error, Mapping):
        return _told(error)
    if isinstance(error, str) and error:
        return Told(error)
    # Mistral and older vLLM have no object around it.
    bare = "choices" not in found and isinstance(found.get("message"), str)
    return _told(found) if bare else None


def _told(error: Mapping[str, Any]) -> Told:
    inner = error.get("innererror")
    code = inner.get("code") if isinstance(inner, Mapping) and inner.get("code") else error.get("code")
    return Told(_plain(str(error.get("message") or "")), _word(code), _word(error.get("type")))


def _word(found: Any) -> str:
    return "" if found is None else str(found).lower()


def _plain(text: str) -> str:
    """A page as its title, anything else as it is."""
    if not text.lstrip().startswith("<"):
        return text
    title = _TITLE.search(text)
    return f"a web page titled {title[1].strip()!r}" if title else "a web page"


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
