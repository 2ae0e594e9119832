"""The small model, run for real in this process."""

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from antiphon._messages import Image, Message
from antiphon.errors import ContextTooLong, InvalidRequest, Misuse, ModelError, Overloaded, UnknownModel
from antiphon.models import ModelRequest, Replied, TextPiece
from antiphon.providers.local import LocalModel, find_model


def installed() -> bool:
    """Whether the engine and the small model's file are here."""
    try:
        return importlib.util.find_spec("xllamacpp") is not None and find_model("smollm2").is_file()
    except UnknownModel:
        return False


pytestmark = pytest.mark.skipif(
    not installed(), reason="needs xllamacpp and the file of smollm2; `./dev setup` installs both"
)
LONG = "The quick brown fox jumps over the lazy dog, and the dog does not mind at all. " * 60


@pytest.fixture(scope="module")
def model() -> Iterator[LocalModel]:
    """One engine for all tests that need no other."""
    found = LocalModel(options={"seed": 1})
    yield found
    asyncio.run(found.aclose())


def asked(*said: str, **options: Any) -> ModelRequest:
    """A request with these messages, people and model in turn."""
    roles = ("user", "assistant")
    messages = [Message.of(roles[i % 2], text) for i, text in enumerate(said)]  # type: ignore[arg-type]
    return ModelRequest(messages, **options)


async def reply(model: LocalModel, request: ModelRequest) -> Replied:
    """The reply to a request."""
    async with aclosing(model.stream(request)) as stream:
        events = [event async for event in stream]
    assert isinstance(events[-1], Replied)
    return events[-1]


def answer(model: LocalModel, *said: str, **options: Any) -> Replied:
    """The reply to these messages, in an event loop of its own."""
    return asyncio.run(reply(model, asked(*said, **options)))


def test_it_answers(model: LocalModel) -> None:
    """A plain question is answered in words, with the engine's own figures and the file's name."""
    found = answer(model, "What is the capital of France?", max_output_tokens=30)
    assert any(letter.isalpha() for letter in found.message.text)
    assert found.usage is not None and found.usage.input > 30 and 0 < found.usage.output <= 30
    assert (found.model, found.finish in ("stop", "length")) == ("smollm2", True)


def test_a_second_turn_reads_only_what_is_new(model: LocalModel) -> None:
    """What the first turn showed is reported as cached by the second."""
    first = answer(model, LONG[:1_500], max_output_tokens=8)
    second = answer(model, LONG[:1_500], first.message.text, "Go on.", max_output_tokens=8)
    assert first.usage is not None and second.usage is not None
    assert second.usage.cached >= 0.9 * first.usage.input


def test_another_conversation_between_costs_no_prefix(model: LocalModel) -> None:
    """Going back to a conversation after another one finds its prefix again."""
    first = answer(model, LONG[:1_500] + "A", max_output_tokens=4)
    answer(model, "Something else entirely: " + LONG[700:1_700], max_output_tokens=4)
    again = answer(model, LONG[:1_500] + "A", max_output_tokens=4)
    assert first.usage is not None and again.usage is not None
    assert again.usage.cached >= 0.9 * first.usage.input


def test_the_limit_is_kept(model: LocalModel) -> None:
    """A reply that reaches its limit has exactly so many tokens, and says `length`."""
    found = answer(model, "Tell me a long story.", max_output_tokens=7)
    assert found.usage is not None and (found.finish, found.usage.output) == ("length", 7)


@pytest.mark.parametrize("limit", range(1, 9))
def test_characters_stay_whole(model: LocalModel, limit: int) -> None:
    """A reply cut between the tokens of one character holds no broken one."""
    found = answer(model, "Answer only with emoji: 🎉👩‍👩‍👧‍👦🌈漢字", max_output_tokens=limit)
    assert "\ufffd" not in found.message.text


def test_odd_texts_are_read(model: LocalModel) -> None:
    """Lone surrogates and NUL reach the engine as something it can read."""
    assert answer(model, "a\ud800b\x00c", max_output_tokens=2).usage is not None


def test_a_schema_is_met(model: LocalModel) -> None:
    """With an output schema the reply is JSON of that shape."""
    schema = {"type": "object", "properties": {"color": {"enum": ["blue", "green"]}}, "required": ["color"]}
    found = answer(model, "What color is the sky?", output_schema=schema, max_output_tokens=30)
    assert json.loads(found.message.text)["color"] in ("blue", "green")


def test_too_long_a_request_tells_both_sizes() -> None:
    """A request longer than the window is refused with its size and the window's."""
    small = LocalModel(window=512)
    with pytest.raises(ContextTooLong, match=r"tokens, but it holds 512"):
        answer(small, LONG)
    asyncio.run(small.aclose())


def test_a_full_window_ends_the_reply() -> None:
    """A reply that fills the window ends as one that reached its limit."""
    small = LocalModel(window=256, options={"ignore_eos": True})
    found = answer(small, "Count.", max_output_tokens=1_000)
    asyncio.run(small.aclose())
    assert found.usage is not None and (found.finish, found.usage.total <= 257) == ("length", True)


@pytest.mark.parametrize(
    "request_of",
    [
        lambda: ModelRequest([Message.of("user", [Image("image/png", data="AAAA")])]),
        lambda: asked("Hi", options={"temperature": "hot"}),
        lambda: asked("Hi", output_schema={"type": "nonsense"}),
    ],
)
def test_what_the_engine_refuses_is_invalid(model: LocalModel, request_of: Callable[[], ModelRequest]) -> None:
    """Media, wrong options and wrong schemas are errors of ours, and the next request is answered."""
    with pytest.raises(InvalidRequest):
        asyncio.run(reply(model, request_of()))
    assert answer(model, "Hi", max_output_tokens=2).usage is not None


def test_a_damaged_file_is_named(model: LocalModel, tmp_path: Path) -> None:
    """A file whose rest is missing fails when it is loaded, named."""
    damaged = tmp_path / "damaged.gguf"
    with model.path.open("rb") as whole:
        damaged.write_bytes(whole.read(5_000_000))
    with pytest.raises(UnknownModel, match=r"damaged\.gguf is damaged"):
        answer(LocalModel(path=damaged), "Hi")


@pytest.mark.parametrize("content", [b"", b"hello", b"GGUF"])
def test_another_kind_of_file_is_refused_at_once(tmp_path: Path, content: bytes) -> None:
    """A file that is no GGUF file fails when the model is made."""
    (tmp_path / "x.gguf").write_bytes(content)
    with pytest.raises(UnknownModel, match=r"x\.gguf cannot be loaded"):
        LocalModel(path=tmp_path / "x.gguf")


def test_the_window_is_at_most_the_trained_one() -> None:
    """A window larger than the model was trained with is not promised."""
    assert (LocalModel(window=100_000).window, LocalModel(window=300).window) == (8_192, 300)


@pytest.mark.parametrize("wrong", [{"window": 0}, {"threads": 0}, {"max_output_tokens": -1}])
def test_numbers_below_one_are_misuse(wrong: dict[str, int]) -> None:
    """No size below one is taken, and none stands for unlimited."""
    with pytest.raises(Misuse, match="at least 1"):
        LocalModel(**wrong)  # type: ignore[arg-type]


async def begun(stream: AsyncIterator[Any]) -> None:
    """Read up to the first piece of text."""
    async for event in stream:
        if isinstance(event, TextPiece):
            return


def test_closing_stops_the_reading_of_a_prompt(model: LocalModel) -> None:
    """Cancelled while a long prompt is read, the engine is free within moments, not when it has read all."""

    async def cancelled() -> float:
        reader = asyncio.create_task(reply(model, asked("x" + LONG * 4)))
        await asyncio.sleep(0.3)
        started = time.monotonic()
        reader.cancel()
        await asyncio.wait([reader])
        await reply(model, asked("Hi", max_output_tokens=2))
        return time.monotonic() - started

    assert asyncio.run(cancelled()) < 5


def test_calls_wait_for_their_turn(model: LocalModel) -> None:
    """A second call is answered after the first; one that waits is cancelled at once and never begun."""

    async def three() -> list[str]:
        order: list[str] = []

        async def call(name: str) -> None:
            await reply(model, asked(f"Tell me about {name}.", max_output_tokens=20))
            order.append(name)

        calls = [asyncio.create_task(call(name)) for name in ("rain", "snow", "wind")]
        await asyncio.sleep(0.01)
        calls[1].cancel()
        await asyncio.wait([calls[1]])
        assert order == [], "the one that waited was not cancelled at once"
        await asyncio.gather(calls[0], calls[2])
        return order

    assert asyncio.run(three()) == ["rain", "wind"]


def test_closing_the_model_ends_what_runs() -> None:
    """`aclose` fails the running call and the waiting one, and the next call loads the file again."""

    async def closed() -> list[object]:
        model = LocalModel(options={"ignore_eos": True})
        stream = model.stream(asked("Count."))
        await begun(stream)
        waiting = asyncio.create_task(reply(model, asked("Hi")))
        await asyncio.sleep(0.01)
        await model.aclose()
        with pytest.raises(Overloaded, match="it was closed"):
            await begun_to_end(stream)
        ended = await asyncio.gather(waiting, return_exceptions=True)
        await reply(model, asked("Hi", max_output_tokens=2))
        await model.aclose()
        return list(ended)

    assert isinstance(asyncio.run(closed())[0], ModelError)


async def begun_to_end(stream: AsyncIterator[Any]) -> None:
    """Read all that still comes."""
    async for _ in stream:
        pass


def test_the_loop_stays_free(model: LocalModel) -> None:
    """While the engine reads and writes, the event loop goes on."""

    async def longest_wait() -> float:
        await reply(model, asked("Hi", max_output_tokens=1))
        working = asyncio.create_task(reply(model, asked(LONG[:1_000], max_output_tokens=30)))
        longest, last = 0.0, time.monotonic()
        while not working.done():
            await asyncio.sleep(0.005)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
        return longest

    assert asyncio.run(longest_wait()) < 0.2


def run(script: str, *args: str) -> subprocess.CompletedProcess[bytes]:
    """Run a script in a process of its own."""
    return subprocess.run([sys.executable, "-c", script, *args], capture_output=True, timeout=50, check=False)


ASK = """
import asyncio, sys
from antiphon._messages import Message
from antiphon.models import ModelRequest
from antiphon.providers.local import LocalModel
async def ask(model):
    async for _ in model.stream(ModelRequest([Message.of("user", "Hi")], max_output_tokens=3)): pass
"""


def test_the_engine_writes_nothing(tmp_path: Path, model: LocalModel) -> None:
    """Loading, answering, a damaged file, and an exit without closing leave stdout and stderr empty."""
    damaged = tmp_path / "damaged.gguf"
    with model.path.open("rb") as whole:
        damaged.write_bytes(whole.read(5_000_000))
    script = ASK + (
        "asyncio.run(ask(LocalModel()))\n"
        "kept = LocalModel(); asyncio.run(ask(kept))\n"
        "try: asyncio.run(ask(LocalModel(path=sys.argv[1])))\n"
        "except Exception as error: sys.exit(0 if 'damaged' in str(error) else 3)\n"
    )
    done = run(script, str(damaged))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_nobody_can_reach_the_engine() -> None:
    """The engine listens on no port, and the place of its socket is gone."""
    script = ASK + (
        "import os, glob, re\n"
        "model = LocalModel(); asyncio.run(ask(model))\n"
        "mine = {os.readlink(f) for f in glob.glob('/proc/self/fd/*') if os.path.islink(f)}\n"
        "for table in ('tcp', 'tcp6'):\n"
        "    for row in open(f'/proc/net/{table}').read().splitlines()[1:]:\n"
        "        if row.split()[3] == '0A' and f'socket:[{row.split()[9]}]' in mine: print(row)\n"
        "for row in open('/proc/net/unix').read().splitlines()[1:]:\n"
        "    words = row.split()\n"
        "    if f'socket:[{words[6]}]' in mine and len(words) > 7 and os.path.exists(words[7]): print(row)\n"
    )
    done = run(script)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_is_told() -> None:
    """A child process that inherited a loaded model is refused at once instead of waiting for ever."""
    script = ASK + (
        "import os, warnings\n"
        "warnings.simplefilter('ignore')\n"
        "model = LocalModel(); asyncio.run(ask(model))\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    try: asyncio.run(ask(model))\n"
        "    except Exception as error: os._exit(0 if 'forked' in str(error) else 3)\n"
        "    os._exit(4)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert run(script).returncode == 0


def test_the_engine_is_imported_by_the_first_call() -> None:
    """Making a model loads neither the engine nor the file."""
    script = ASK + "LocalModel(); print('xllamacpp' in sys.modules)"
    assert run(script).stdout == b"False\n"


def test_a_missing_engine_names_the_extra() -> None:
    """Without xllamacpp the sentence says what to install."""
    script = ASK + (
        "sys.modules['xllamacpp'] = None\ntry: LocalModel()\nexcept Exception as error: print(repr(error))\n"
    )
    sentence = "model 'local:smollm2' needs an optional part; install it: pip install 'antiphon[local]'"
    assert sentence in run(script).stdout.decode()
