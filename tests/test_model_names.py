"""From a name to a model."""

import subprocess
import sys
from pathlib import Path

import pytest

from antiphon._model_names import model_from_name
from antiphon.errors import Misuse, UnknownModel
from antiphon.providers.echo import EchoModel
from antiphon.providers.openai_chat import OpenAIChatModel

KNOWN = (
    "echo:, local:NAME or local:/path/to/file.gguf, openai:NAME, ollama:NAME, http://HOST:PORT/v1#NAME,"
    " https://HOST/v1#NAME; `antiphon models` lists what can be used here"
)


def test_echo_is_a_name() -> None:
    """`echo:` gives the model that says what it was shown."""
    assert isinstance(model_from_name("echo:"), EchoModel)


@pytest.mark.parametrize("name", ["mine:gpt-5", "ftp://127.0.0.1/v1#m", "ECHO:", ":x", "OpenAI:gpt-5"])
def test_an_unknown_scheme_lists_the_known_ones(name: str) -> None:
    """A scheme that does not exist is named, with those that do."""
    scheme = name.partition(":")[0] + ":"
    with pytest.raises(UnknownModel) as raised:
        model_from_name(name)
    assert str(raised.value) == f"model {name!r} is not known: {scheme!r} is no scheme; written as {KNOWN}"


@pytest.mark.parametrize("name", ["gpt-5", "", "smollm2"])
def test_a_name_without_a_scheme_is_unknown(name: str) -> None:
    """A name without a colon is never guessed at."""
    with pytest.raises(UnknownModel) as raised:
        model_from_name(name)
    assert str(raised.value) == f"model {name!r} is not known: it names no scheme; written as {KNOWN}"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("local:", "the name after the colon is missing"),
        ("openai:", "the name after the colon is missing"),
        ("http:", "the name after the colon is missing"),
        ("echo:loud", "nothing may follow the colon"),
        ("http://127.0.0.1:8000/v1", "the model after # is missing; written as http://HOST/v1#MODEL"),
    ],
)
def test_a_part_too_few_or_too_many_is_unknown(name: str, found: str) -> None:
    """What is missing, or one too many, is said."""
    with pytest.raises(UnknownModel, match=found):
        model_from_name(name)


@pytest.mark.parametrize(
    "name", ["ollama:llama3.2:1b", "http://127.0.0.1:8000/v1#qwen3", "https://models.example/v1#org/qwen3"]
)
def test_servers_are_names(name: str) -> None:
    """A model of Ollama's, and one at an address, is made by its name, and is called by it."""
    found = model_from_name(name)
    assert isinstance(found, OpenAIChatModel) and found.name == name


def test_a_password_in_a_name_is_not_repeated() -> None:
    """An address with a password is refused, and the sentence holds nothing of it."""
    with pytest.raises(Misuse) as raised:
        model_from_name("https://ana:pa55word@models.example/v1#m")
    assert "pa55" not in str(raised.value)


def test_a_missing_file_is_unknown(tmp_path: Path) -> None:
    """A path to no file is refused at once, not at the first call."""
    pytest.importorskip("xllamacpp", reason="needs the extra 'local'; `./dev setup` installs it")
    with pytest.raises(UnknownModel, match=r"absent\.gguf is not there"):
        model_from_name(f"local:{tmp_path}/absent.gguf")


def test_providers_are_imported_when_named() -> None:
    """Neither the table nor the package of providers imports a provider."""
    script = (
        "import sys, antiphon._model_names, antiphon.providers\n"
        "import antiphon.providers.local, antiphon.providers.openai_chat\n"
        "late = {'xllamacpp', 'httpx2', 'antiphon.providers.echo', 'antiphon.providers.local._engine'}\n"
        "print(sorted(late & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
