"""Every model of ours keeps the promises of the seam."""

import asyncio
import importlib.util
import time
from pathlib import Path

import pytest

from antiphon._messages import Message, ToolCall
from antiphon.errors import Misuse, UnknownModel, Unreachable
from antiphon.models import Model, ModelRequest, Replied, TextPiece
from antiphon.providers.echo import EchoModel
from antiphon.providers.local import LocalModel, find_model
from antiphon.testing import ModelContract, ScriptedModel


def installed() -> bool:
    """Whether the engine and the small model's file are here."""
    try:
        return importlib.util.find_spec("xllamacpp") is not None and find_model("smollm2").is_file()
    except UnknownModel:
        return False


class TestEchoModel(ModelContract):
    """`echo:` keeps the promises."""

    never_fails = True

    def make_model(self) -> Model:
        return EchoModel()


class TestScriptedModel(ModelContract):
    """A scripted model keeps the promises that its script keeps."""

    def make_model(self) -> Model:
        return ScriptedModel(["It is a fine day at sea."] * 2, window=8_192, delay=0.001)

    def make_failing_model(self) -> Model:
        broken = [TextPiece("It is a"), Unreachable("scripted", "the cable was cut")]
        return ScriptedModel([broken])

    def make_calling_model(self) -> Model:
        calls = [ToolCall.of(city, "look_up", arguments={"city": city}) for city in ("Oslo", "Rome")]
        return ScriptedModel([Message.of("assistant", calls)])


@pytest.mark.skipif(
    not installed(),
    reason="needs the embedded model, which `./dev setup` installs; runs by ./dev fail without",
)
class TestLocalModel(ModelContract):
    """The small model, run for real in this process, keeps the promises."""

    model: LocalModel
    damaged: Path

    @classmethod
    def setup_class(cls) -> None:
        cls.model = LocalModel("smollm2", options={"seed": 1})

    @classmethod
    def teardown_class(cls) -> None:
        asyncio.run(cls.model.aclose())

    @pytest.fixture(autouse=True)
    def damage(self, tmp_path: Path) -> None:
        """Keep a file whose head is right and whose rest is missing."""
        self.damaged = tmp_path / "damaged.gguf"
        with self.model.path.open("rb") as whole:
            self.damaged.write_bytes(whole.read(5_000_000))

    def make_model(self) -> Model:
        return self.model

    def make_failing_model(self) -> Model:
        return LocalModel(path=self.damaged)

    def calling_request(self) -> ModelRequest:
        asked = super().calling_request()
        return ModelRequest(asked.messages, tools=asked.tools, max_output_tokens=30)

    async def still_works(self, model: Model) -> bool:
        """Look at the processor too: the engine works in a thread."""
        before = time.process_time()
        await asyncio.sleep(0.3)
        return time.process_time() - before > 0.15 or await super().still_works(model)

    async def finish(self, model: Model) -> None:
        if model is not self.model:
            await super().finish(model)


class Unfinished(ModelContract):
    """Not collected: a contract without its hooks, run by hand below."""


class Mute(Unfinished):
    """Not collected: a model whose stream ends at once."""

    def make_model(self) -> Model:
        return ScriptedModel([[]] * 2)


PROMISES = sorted(name for name in dir(ModelContract) if name.startswith("test_m"))


def test_every_promise_has_a_test() -> None:
    """Each of the promises M1 to M8 has at least one test that is named after it."""
    assert {name[5:7] for name in PROMISES} >= {f"m{number}" for number in range(1, 9)}


@pytest.mark.parametrize("promise", PROMISES)
def test_a_missing_hook_fails(promise: str) -> None:
    """Without a model to test, no test of the contract passes."""
    with pytest.raises(Misuse, match=r"make_model|make_failing_model"):
        getattr(Unfinished(), promise)()


@pytest.mark.parametrize("promise", [name for name in PROMISES if name[5:7] in ("m1", "m2", "m3", "m4", "m6")])
def test_a_silent_stream_fails(promise: str) -> None:
    """A model that gives no event does not pass for want of events."""
    with pytest.raises(AssertionError):
        getattr(Mute(), promise)()


class Faulty:
    """A model that breaks one promise, by name."""

    name = "faulty"

    def __init__(self, fault: str) -> None:
        self.fault = fault

    async def stream(self, request: ModelRequest):  # type: ignore[no-untyped-def]
        said = Message.of("assistant", "Hello there.")
        if self.fault == "m5":
            raise ValueError("a vendor's error")
        if self.fault == "m7":
            request.messages.append(said)  # type: ignore[attr-defined]
        if self.fault == "m6":
            self.left = asyncio.create_task(asyncio.sleep(30))
        yield TextPiece("Hello" if self.fault == "m2" else "Hello there.")
        await asyncio.sleep(0)
        calls = [ToolCall.of("1", "look_up", arguments={})] * 2 if self.fault == "m3" else []
        yield Replied(Message.of("assistant", [*said.parts, *calls]))
        if self.fault == "m1":
            yield Replied(said)


class FaultyContract(ModelContract):
    """Not collected: the contract of a faulty model."""

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def make_model(self) -> Model:
        return Faulty(self.fault)

    def make_failing_model(self) -> Model:
        return Faulty(self.fault)

    def make_calling_model(self) -> Model:
        return Faulty(self.fault)


@pytest.mark.parametrize("fault", ["m1", "m2", "m3", "m5", "m6", "m7"])
def test_a_broken_promise_is_found(fault: str) -> None:
    """A model that breaks a promise fails a test that is named after it."""
    named = [name for name in PROMISES if name[5:7] == fault]
    broken = 0
    for name in named:
        try:
            getattr(FaultyContract(fault), name)()
        except AssertionError:
            broken += 1
    assert broken >= 1
