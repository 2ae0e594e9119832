"""llama.cpp in this process: one file loaded once, one thread that asks it, one call at a time."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from ..._jsonable import Jsonable
from ...errors import InvalidRequest, Misuse, ModelError, Overloaded, UnknownModel

Take = Callable[[Mapping[str, Any]], bool]
"""Is given each chunk on the engine's thread; True ends the call."""

PROMPT_CACHE_MIB = 256
"""Memory for prompts of other conversations, so that going back to one does not read it anew."""
_BATCH = 64
"""Prompt tokens a thread reads between two moments at which the call can be ended: about half a second."""
_LONGEST_SOCKET = 100
"""Bytes; the operating system takes 104 to 108."""


class Engine:
    """A model file, loaded by the first call.

    Calls are answered in the order of asking. A second one at the same time would share one processor and take
    twice as long for both; waiting keeps the first answer fast, and what waits can be cancelled at once.

    Args:
        path: the GGUF file.
        model: how errors call the model.
        window: tokens of prompt and reply together.
        threads: threads that compute.
    """

    def __init__(self, path: Path, *, model: str, window: int, threads: int) -> None:
        self._path, self._model = path, model
        self._window, self._threads = window, threads
        self._process_id = os.getpid()
        self._server: Any = None
        self._closing = threading.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="antiphon-local")

    def ask(self, body: Mapping[str, Jsonable], take: Take) -> Future[ModelError | None]:
        """Queue a call; the future gives None, or why it failed.

        Raises:
            Misuse: in a child process that was forked after the engine was made.
        """
        if os.getpid() != self._process_id:
            raise Misuse(f"model {self._model!r} was loaded before this process was forked", "make a new model in it")
        return self._thread.submit(self._answer, body, take)

    def close(self) -> None:
        """End the running call, drop those that wait, free the memory. Blocks for at most one batch."""
        self._closing.set()
        if os.getpid() != self._process_id:
            return
        self._thread.submit(self._free)
        self._thread.shutdown(wait=True)

    def _free(self) -> None:
        self._server = None

    def _answer(self, body: Mapping[str, Jsonable], take: Take) -> ModelError | None:
        if self._closing.is_set():
            return Overloaded(self._model, "it was closed")
        if self._server is None:
            try:
                self._server = _load(self._path, window=self._window, threads=self._threads)
            except RuntimeError:
                found = f"{self._path} is damaged, or of a kind that this llama.cpp cannot load"
                return UnknownModel(self._model, found)
        try:
            self._server.handle_chat_completions(dict(body), lambda chunk: self._closing.is_set() or take(chunk))
        except ValueError as why:
            return InvalidRequest(self._model, str(why))
        except RuntimeError as why:
            return Overloaded(self._model, str(why))
        return Overloaded(self._model, "it was closed") if self._closing.is_set() else None


def _load(path: Path, *, window: int, threads: int) -> Any:
    xllamacpp = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx = window
    params.n_parallel = 1
    params.n_batch = params.n_ubatch = min(_BATCH * threads, 512)
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_ram_mib = PROMPT_CACHE_MIB
    # Loading holds the interpreter still; a first pass over the model would only make that longer.
    params.fit_params = params.warmup = False
    # Below 0 the engine writes nothing to stdout or stderr, errors included: they reach us as exceptions.
    params.verbosity = -1
    with _unreachable(params):
        return xllamacpp.Server(params)


@contextmanager
def _unreachable(params: Any) -> Iterator[None]:
    """Keep others out: the engine opens an HTTP server that nothing here uses and that cannot be turned off.

    Where there are unix sockets it listens on one in a private folder, which is gone a moment later; elsewhere on
    loopback behind a key that nobody is told.
    """
    params.api_keys = [secrets.token_urlsafe(32)]
    params.ui = params.endpoint_slots = False
    params.n_threads_http = 1
    params.offline = True
    if os.name != "posix":
        yield
        return
    folder = tempfile.mkdtemp(prefix="antiphon-")
    if len(os.fsencode(folder)) + len("/s.sock") > _LONGEST_SOCKET:
        shutil.rmtree(folder, ignore_errors=True)
        folder = tempfile.mkdtemp(prefix="antiphon-", dir="/tmp")
    params.hostnames = [f"{folder}/s.sock"]
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
