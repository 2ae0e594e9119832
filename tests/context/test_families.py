"""From a model's name to who counts for it."""

import subprocess
import sys

import pytest

from antiphon import estimate_tokens
from antiphon.context._families import counter_for, counter_name, exact_counter, family_of
from antiphon.context._tokens import families
from antiphon.errors import UnknownModel

NAMED: list[tuple[str | None, str]] = [
    (
        "o200k_base",
        "openai:gpt-5-mini gpt-4o gpt-4.1-mini gpt-4.5-preview chatgpt-4o-latest gpt-oss:20b ollama:gpt-oss",
    ),
    ("o200k_base", "o1 openai:o4-mini openai/o3 responses:gpt-5.1-codex https://api.openai.com/v1#gpt-5 phi-4-mini"),
    ("cl100k_base", "openai:gpt-4 gpt-4-turbo gpt-4-0613 gpt-4-1106-preview gpt-3.5-turbo gpt-35-turbo phi4"),
    ("claude3", "anthropic:claude-sonnet-4-5 claude-opus-4-6 claude-3-5-sonnet-20241022 claude-sonnet-4-20250514"),
    (
        "claude3",
        "claude-opus-4@20250514 us.anthropic.claude-3-haiku-20240307-v1:0 openrouter:anthropic/claude-3.7-sonnet",
    ),
    ("claude4.8", "claude-opus-4-8 anthropic:claude-opus-4-7 claude-haiku-5 claude-sonnet-latest"),
    ("claude2", "claude-2.1 claude-instant-1.2"),
    ("gemma3", "gemini:gemini-2.5-pro models/gemini-3-flash gemma3:27b ollama:gemma3"),
    ("gemma4", "ollama:gemma4 google/gemma-4-12b-it"),
    ("llama3", "http://host/v1#llama3 ollama:llama3.2 llama3:latest meta-llama/Llama-3.3-70B-Instruct"),
    (
        "llama3",
        "local:/srv/claude/models/llama-3.2-1b.gguf deepseek-r1-distill-llama-70b local:C:\\models\\llama3.gguf",
    ),
    ("qwen3", "ollama:qwen3:8b qwen3:latest qwen2.5-coder:32b qwq:32b deepseek-r1-distill-qwen-7b qwen-max"),
    ("qwen3.5", "qwen3.5-plus ollama:qwen3.6"),
    ("deepseek_v3", "ollama:deepseek-r1:8b deepseek-v3.2 deepseek-chat"),
    ("deepseek_v4", "deepseek-v4"),
    ("mistral_v3", "mistral-large-latest ministral-8b devstral-small bedrock/mistral.mistral-large-2407-v1:0"),
    ("kimi_k2", "kimi-k2-thinking"),
    ("glm4", "glm-4.6 zai/glm-5"),
    ("minimax_m3", "minimax-m2"),
    (None, "local:smollm2 echo: grok-4 command-r llama2:7b llama4 http://localhost:8080/v1 foo-4o ollama:tinyllama"),
]
EACH = [(name, family) for family, names in NAMED for name in names.split()]


@pytest.mark.parametrize(("name", "family"), EACH, ids=[name for name, _ in EACH])
def test_names_have_families(name: str, family: str | None) -> None:
    """A model's family is told from its name as people write it; a name that no rule knows has none."""
    assert family_of(name) == family_of(f" {name.upper()} ") == family
    assert family is None or family in families()


def test_each_family_has_one_counter() -> None:
    """Models of one family have the very same counter, and those of another have another."""
    assert counter_for("openai:gpt-5-mini") is counter_for("o3")
    assert counter_for("openai:gpt-5-mini") is not counter_for("gpt-4")
    assert counter_for("who knows") is estimate_tokens


@pytest.mark.parametrize("name", ["openai:gpt-5-mini", "claude-opus-4-8", "ollama:qwen3:8b"])
def test_a_familys_counter_estimates_for_it(name: str) -> None:
    """A counter counts with its family's numbers."""
    for text in ("", "hello world", "getUserName(12)", "漢字 😀"):
        assert counter_for(name)(text) == estimate_tokens(text, family=family_of(name))


def test_counters_have_names() -> None:
    """Traces say who counted, and for which family; a caller's own counter goes by its own name."""
    assert counter_name(counter_for("gpt-5")) == "estimate (o200k_base)"
    assert counter_name(exact_counter("gpt-5")) == "exact (o200k_base)"
    assert counter_name(estimate_tokens) == counter_name(counter_for("who knows")) == "estimate"
    assert counter_name(len) == "len"
    assert counter_name(lambda text: 1) == "<lambda>"


# What tiktoken's own table gives for these texts.
COUNTED = [
    ("gpt-4o", "hello world", 2),
    ("openai:gpt-5-mini", "tiktoken is great!", 6),
    ("gpt-4", "tiktoken is great!", 6),
    ("gpt-4", "antidisestablishmentarianism", 6),
    ("gpt-4o", "お誕生日おめでとう", 8),
    ("gpt-4", "お誕生日おめでとう", 9),
]


@pytest.mark.parametrize(("model", "text", "tokens"), COUNTED)
def test_exact_counts_are_the_vocabularys(model: str, text: str, tokens: int) -> None:
    """An exact counter gives the number of tokens that the model's vocabulary makes of a text."""
    assert exact_counter(model)(text) == tokens


def test_exact_counters_take_any_text() -> None:
    """What looks like a control token is text, halves of characters count, and nothing costs nothing."""
    counter = exact_counter("gpt-5")
    assert counter("<|endoftext|>") > 1
    assert counter("\ud800") == 1
    assert counter("") == 0


EXACT = ["gpt-4o", "gpt-4", "llama3.2", "gemma3", "gemma4", "qwen3:8b", "deepseek-r1", "kimi-k2", "glm-4.6"]


@pytest.mark.parametrize("model", EXACT)
def test_exact_counters_are_one_a_family(model: str) -> None:
    """Each vocabulary that is here makes two or three tokens of two words, and its counter is one object."""
    assert exact_counter(model) is exact_counter(f"ollama:{model}")
    assert exact_counter(model)("hello world") in (2, 3)


@pytest.mark.parametrize(
    "model", ["claude-opus-4-8", "gemini:gemini-2.5-pro", "local:smollm2", "mistral:7b", "qwen3.5", "gpt-6"]
)
def test_no_vocabulary_is_no_exact_count(model: str) -> None:
    """A model whose vocabulary is not here is refused, never counted with a neighbour's."""
    with pytest.raises(UnknownModel, match="no vocabulary of it is here"):
        exact_counter(model)


def test_exact_counts_need_an_extra() -> None:
    """Without the optional part the error says what to install; estimates need nothing."""
    program = """
import sys
sys.modules["splintr"] = None
from antiphon.context._families import counter_for, exact_counter
from antiphon.errors import MissingExtra
assert counter_for("gpt-5")("hello world") == 2
try:
    exact_counter("gpt-5")
except MissingExtra as error:
    assert error.extra == "tokens"
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'antiphon[tokens]'" in ran.stdout
