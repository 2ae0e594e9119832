"""The model that runs in this process."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

from ..._jsonable import Jsonable
from ...errors import MissingExtra, Misuse, UnknownModel
from ...models import ModelEvent, ModelRequest
from ._call import Call
from ._decode import Decoder
from ._encode import MAX_OUTPUT_TOKENS, encode
from ._engine import Engine
from ._files import find_model
from ._gguf import trained_window

WINDOW = 8_192

_log = logging.getLogger("antiphon")


class LocalModel:
    """Runs a GGUF file in this process through llama.cpp; nothing leaves the machine.

    The file is looked for at once and loaded by the first call, on a thread of its own; `aclose` frees it. The binding
    holds the whole interpreter still while it loads: a quarter of a second for a small model. Calls are answered one
    after another, from whichever event loop they come. Tools are not offered to the model, and calls and results of
    earlier turns are shown to it as text; an output schema is enforced.

    Args:
        name: a file as in `smollm2` (see `find_model`), or a path to one.
        path: the file itself; then `name` is only a name.
        window: tokens of prompt and reply together, at most what the model was trained with.
        max_output_tokens: most tokens of a reply where the request does not say.
        threads: threads that compute; None is one less than the processors, because a busy processor slows all.
        options: fields of llama.cpp's chat completion body for every call, as in `{"temperature": 0.7, "seed": 1}`;
            without them temperature 0.2, top_p 0.9, and repeated phrases held back.

    Raises:
        MissingExtra: if xllamacpp is not installed.
        UnknownModel: if there is no such file, or it is not a GGUF file.
        Misuse: if a number is below one.
    """

    def __init__(
        self,
        name: str = "smollm2",
        *,
        path: str | Path | None = None,
        window: int = WINDOW,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        threads: int | None = None,
        options: Mapping[str, Jsonable] | None = None,
    ) -> None:
        for given, value in (("window", window), ("max_output_tokens", max_output_tokens), ("threads", threads)):
            if value is not None and value < 1:
                raise Misuse(f"LocalModel was given {given}={value}", "give at least 1")
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra("local", needed_for=f"model 'local:{name}'")
        self._name = f"local:{name}"
        self._path = find_model(name if path is None else os.fspath(Path(path).absolute()))
        self._answers_as = self._path.stem if path is None and self._path.name in name else name
        self._window = min(window, _trained(self._path, self._name) or window)
        self._max_output_tokens = max_output_tokens
        self._threads = threads or max(1, _processors() - 1)
        self._options = dict(options or {})
        self._engine: Engine | None = None
        self._told_of_tools = False

    @property
    def name(self) -> str:
        """How traces and errors call this model, as in `local:smollm2`."""
        return self._name

    @property
    def window(self) -> int:
        """Tokens of prompt and reply together."""
        return self._window

    @property
    def path(self) -> Path:
        """The model file."""
        return self._path

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        """Answer one request. Closing the stream ends the work within a token, or a batch of the prompt.

        Raises:
            ContextTooLong: if the request is longer than the window.
            InvalidRequest: for images and files, and for options that the engine refuses.
            UnknownModel: if the file cannot be loaded.
            Overloaded: if the engine failed, or was closed meanwhile.
            Misuse: in a process that was forked after the first call.
        """
        self._tell_of_tools(request)
        body = encode(request, model=self._name, max_output_tokens=self._max_output_tokens, options=self._options)
        decoder = Decoder(self._name, answered_by=self._answers_as)
        call = Call()
        asked = self._loaded().ask(body, call.take)
        asked.add_done_callback(call.done)
        try:
            while (chunk := await call.next(asked)) is not None:
                for event in decoder.feed(chunk):
                    yield event
            yield decoder.reply()
        finally:
            await call.end(asked)

    async def aclose(self) -> None:
        """End what runs and free the memory; the next call loads the file again."""
        engine, self._engine = self._engine, None
        if engine is not None:
            await asyncio.to_thread(engine.close)

    def _loaded(self) -> Engine:
        if self._engine is None:
            self._engine = Engine(self._path, model=self._name, window=self._window, threads=self._threads)
        return self._engine

    def _tell_of_tools(self, request: ModelRequest) -> None:
        if request.tools and not self._told_of_tools:
            self._told_of_tools = True
            _log.info("model %r is not offered the %d tools of its requests", self._name, len(request.tools))


def _trained(path: Path, model: str) -> int | None:
    try:
        return trained_window(path)
    except (ValueError, OSError) as why:
        raise UnknownModel(model, f"{path} cannot be loaded: {why}") from why


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
