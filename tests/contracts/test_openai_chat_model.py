"""The model that is asked over HTTP keeps the promises of the seam, against a strict server."""

import asyncio
from collections.abc import Iterator

import pytest

from antiphon.models import Model
from antiphon.providers.openai_chat import OpenAIChatModel
from antiphon.testing import ModelContract
from tests.providers.openai_chat.server import FakeOpenAI, event, streamed


class TestOpenAIChatModel(ModelContract):
    """`OpenAIChatModel` keeps the promises; the server tells whether work goes on."""

    patience = 20

    @pytest.fixture(autouse=True)
    def serve(self) -> Iterator[None]:
        """Run a server for one test."""
        with FakeOpenAI() as self.server:
            yield

    def make_model(self) -> Model:
        return OpenAIChatModel("m", base_url=self.server.url)

    def make_failing_model(self) -> Model:
        return OpenAIChatModel("m", base_url="http://127.0.0.1:9/v1", max_retries=0)

    def make_calling_model(self) -> Model:
        return self.make_model()

    async def still_works(self, model: Model) -> bool:
        """Ask the server too."""
        deadline = asyncio.get_running_loop().time() + 1
        while self.server.answering and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.005)
        return self.server.answering > 0 or await super().still_works(model)


class TestModelThatBreaks(TestOpenAIChatModel):
    """The promises hold where what fails is a stream that has begun."""

    @pytest.fixture(autouse=True)
    def serve(self) -> Iterator[None]:
        """Run a server whose stream ends in an error."""
        broken = streamed("It is", " a day")
        failing = [*broken.pieces[:2], event({"error": {"message": "out of memory", "type": "server_error"}})]
        with FakeOpenAI() as self.server, FakeOpenAI() as self.broken:
            self.broken.script(type(broken)(pieces=failing))
            yield

    def make_failing_model(self) -> Model:
        return OpenAIChatModel("m", base_url=self.broken.url)
