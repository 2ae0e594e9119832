"""Which address is asked, and with which key."""

import pytest

from antiphon.errors import BadCredentials, Misuse
from antiphon.providers.openai_chat._address import address_of, checked_headers, key_for, ollama_address

KEYED = {"OPENAI_API_KEY": "sk-of-the-environment"}


@pytest.mark.parametrize(
    ("base_url", "url", "openai"),
    [
        (None, "https://api.openai.com/v1/chat/completions", True),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions", True),
        ("https://API.OpenAI.com/v1", "https://API.OpenAI.com/v1/chat/completions", True),
        ("http://api.openai.com/v1", "http://api.openai.com/v1/chat/completions", False),
        ("https://api.openai.com.evil.example/v1", "https://api.openai.com.evil.example/v1/chat/completions", False),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1/chat/completions", False),
        ("https://x.example/a/?api-version=2", "https://x.example/a/chat/completions?api-version=2", False),
    ],
)
def test_addresses_are_read(base_url: str | None, url: str, openai: bool) -> None:
    """The path is added before a query, and OpenAI's own is the exact host over TLS."""
    found = address_of(base_url)
    assert (found.url, found.openai) == (url, openai)


@pytest.mark.parametrize(
    "wrong", ["", "api.openai.com/v1", "ftp://x/v1", "http://", "http://x:port/v1", " http://x/v1"]
)
def test_what_is_no_address_is_misuse(wrong: str) -> None:
    """What is no http address is refused when the model is made."""
    with pytest.raises(Misuse, match="base_url is no address"):
        address_of(wrong)


def test_what_is_secret_in_an_address_is_not_shown() -> None:
    """A password in an address is refused without a word of it; a query is sent and not shown."""
    with pytest.raises(Misuse) as raised:
        address_of("https://ana:pa55word@x.example/v1")
    assert "pa55" not in str(raised.value)
    found = address_of("https://x.example/v1?key=s3cret")
    assert "s3cret" not in f"{found!r} {found.shown}" and found.url.endswith("?key=s3cret")


@pytest.mark.parametrize(
    ("base_url", "given", "key"),
    [
        (None, None, "sk-of-the-environment"),
        (None, "sk-given\n", "sk-given"),
        (None, "", None),
        ("http://api.openai.com/v1", None, None),
        ("https://x.example/v1", None, None),
        ("https://x.example/v1", "sk-given", "sk-given"),
    ],
)
def test_the_environments_key_goes_to_openai_alone(base_url: str | None, given: str | None, key: str | None) -> None:
    """The key of the environment is for OpenAI's own host over TLS; one that was given goes where it was given for."""
    assert key_for(address_of(base_url), given=given, environ=KEYED, model="m") == key


def test_a_key_that_no_header_carries_is_refused() -> None:
    """A key with a line break inside fails when the model is made, and is not repeated."""
    with pytest.raises(BadCredentials) as raised:
        key_for(address_of(None), given="sk-a\nb", environ={}, model="m")
    assert "sk-a" not in str(raised.value)


@pytest.mark.parametrize("wrong", [{"x-a": "s3cret\n"}, {"x-a": "sécret"}, {"": "s3cret"}])
def test_headers_that_cannot_be_sent_are_misuse(wrong: dict[str, str]) -> None:
    """A header that HTTP cannot carry is named, without its value."""
    with pytest.raises(Misuse) as raised:
        checked_headers(wrong)
    assert "cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("", "http://localhost:11434/v1"),
        ("10.0.0.5", "http://10.0.0.5:11434/v1"),
        ("10.0.0.5:99", "http://10.0.0.5:99/v1"),
        (":99", "http://localhost:99/v1"),
        ("0.0.0.0:99", "http://localhost:99/v1"),
        ("http://0.0.0.0", "http://localhost:80/v1"),
        ("https://o.example", "https://o.example:443/v1"),
        ("https://o.example/ollama/", "https://o.example:443/ollama/v1"),
        ("[::1]:99", "http://[::1]:99/v1"),
    ],
)
def test_ollama_is_where_its_variable_says(host: str, address: str) -> None:
    """`OLLAMA_HOST` is read as Ollama reads it, and what stands for every address is this machine."""
    assert ollama_address({"OLLAMA_HOST": host}) == address
