"""Where a model is asked, and with which key. A key from the environment goes to OpenAI's own host and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit, urlunsplit

from ...errors import BadCredentials, Misuse

OPENAI = "https://api.openai.com/v1"
OLLAMA = "http://localhost:11434/v1"
_OLLAMA_PORT = 11434
_VARIABLE = "OPENAI_API_KEY"


@dataclass(frozen=True, slots=True)
class Address:
    """An endpoint's address.

    Attributes:
        base: as it is shown: without what follows a question mark.
        url: where chat completions are asked for.
        openai: whether it is OpenAI's own, over TLS.
    """

    base: str
    url: str = field(repr=False)
    openai: bool

    @property
    def shown(self) -> str:
        """Where chat completions are asked for, without what follows a question mark."""
        return f"{self.base}/chat/completions"


def address_of(base_url: str | None) -> Address:
    """Take the address of an API, as in `http://127.0.0.1:8000/v1`; None is OpenAI's.

    Raises:
        Misuse: if it is none, or holds a user's name or password: addresses are shown and kept.
    """
    given = OPENAI if base_url is None else base_url
    try:
        parts = urlsplit(given)
        host, _ = parts.hostname, parts.port
    except ValueError:
        host, parts = None, urlsplit("")
    if parts.scheme not in ("http", "https") or not host or given != given.strip():
        raise Misuse("base_url is no address", "write it as in http://127.0.0.1:8000/v1")
    if parts.username is not None or parts.password is not None:
        raise Misuse("base_url holds a user name or a password", "give it by auth= or api_key=")
    path = parts.path.rstrip("/")
    base = urlunsplit((parts.scheme, parts.netloc, path, "", ""))
    url = urlunsplit((parts.scheme, parts.netloc, f"{path}/chat/completions", parts.query, ""))
    return Address(base, url=url, openai=parts.scheme == "https" and host == "api.openai.com")


def key_for(address: Address, *, given: str | None, environ: Mapping[str, str], model: str) -> str | None:
    """Decide which key is sent, if any.

    Raises:
        BadCredentials: if the key cannot be sent in a header.
    """
    key = given
    if key is None and address.openai:
        key = environ.get(_VARIABLE)
    key = (key or "").strip()
    if not _fits_a_header(key):
        raise BadCredentials(model, "the key holds a character that no header can carry")
    return key or None


def missing_key(model: str) -> BadCredentials:
    """The error of a model of OpenAI's without a key."""
    return BadCredentials(model, f"there is no key: set {_VARIABLE}, or give api_key=")


def checked_headers(headers: Mapping[str, str] | None) -> dict[str, str]:
    """Give a caller's headers with their names in lower case.

    Raises:
        Misuse: if one cannot be sent; its value is not repeated.
    """
    found = {}
    for name, value in (headers or {}).items():
        if not _fits_a_header(value) or not name or not _fits_a_header(name):
            raise Misuse(f"the header {name!r} holds a character that none can carry", "give printable ASCII")
        found[name.lower()] = value
    return found


def _fits_a_header(text: str) -> bool:
    return text.isascii() and (text.isprintable() or not text)


def ollama_address(environ: Mapping[str, str]) -> str:
    """Where Ollama is asked: `OLLAMA_HOST` as Ollama itself reads it (ollama/ollama, envconfig), or this machine.

    A host that stands for every address of a machine, as servers are told to listen on, is this machine.
    """
    given = environ.get("OLLAMA_HOST", "").strip().strip("\"'")
    if not given:
        return OLLAMA
    scheme, separator, rest = given.partition("://")
    if not separator:
        scheme, rest = "http", given
    parts = urlsplit(f"//{rest.rstrip('/')}")
    host = parts.hostname or "localhost"
    host = "localhost" if host in ("0.0.0.0", "::") else host
    usual = {"http": 80, "https": 443}.get(scheme, _OLLAMA_PORT) if separator else _OLLAMA_PORT
    shown = f"[{host}]" if ":" in host else host
    return f"{scheme}://{shown}:{parts.port or usual}{parts.path}/v1"
