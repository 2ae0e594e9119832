"""Model servers on this machine that can be asked at no cost."""

from __future__ import annotations

import http.client
import json
import re

OLLAMA = ("localhost", 11434)
"""Where Ollama listens unless told otherwise."""
CONNECT, ANSWER = 0.2, 1.0
"""Seconds: whoever does not run one must not wait for it."""
_NAME = re.compile(r"[\w.:/-]+")
_MOST = 1_000_000


def ollama_models(*, host: str = OLLAMA[0], port: int = OLLAMA[1]) -> list[str]:
    """Give the names of the models that an Ollama server here holds, last changed first; none if there is none.

    Only this machine is asked, and nothing is told to it.
    """
    connection = http.client.HTTPConnection(host, port, timeout=CONNECT)
    try:
        connection.connect()
        connection.sock.settimeout(ANSWER)
        connection.request("GET", "/api/tags")
        told = json.loads(connection.getresponse().read(_MOST))
        names = [str(model["name"]) for model in told["models"]]
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError):
        return []  # Nothing listens there, or something else does.
    finally:
        connection.close()
    return [name for name in names if _NAME.fullmatch(name)]
