"""From a model's name to who counts for it.

Names are taken as people write them: with a scheme of ours or without, behind an address, with a maker's prefix, a
date or a size. What no rule knows has no family; an estimate then takes the dearest of three.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from ..errors import MissingExtra, UnknownModel
from ._tokens import TokenCounter, estimate_tokens

_RULES: tuple[tuple[str, str], ...] = (
    # What was distilled into another maker's model counts as that model does.
    (r"distill.*llama|llama[-_ ]?3|llama[-_ ]?v3|hermes-?3", "llama3"),
    (r"qwen[-_ ]?(?:3\.[5-9]|[4-9](?![\d.]*b))", "qwen3.5"),
    (r"qwen|qwq|qvq", "qwen3"),
    (r"gpt[-_]?oss|gpt[-_ ]?4o|chatgpt|gpt[-_ ]?4[.-][1-9](?!\d)|gpt[-_ ]?[5-9]|codex|computer-use", "o200k_base"),
    (r"(?:^|[:.])o[1-9](?:$|[-:@])|phi-?4-mini", "o200k_base"),
    (r"gpt[-_ ]?(?:4|3\.?5)|text-embedding-(?:3|ada)|phi-?4", "cl100k_base"),
    (r"gemma[-_ ]?[4-9]", "gemma4"),
    (r"gemma[-_ ]?3|gemma$|gemini", "gemma3"),
    (r"deepseek.*v[4-9]", "deepseek_v4"),
    (r"deepseek-?(?:v[23]|r1|chat|reasoner|prover|coder-?v2)|deepseek$", "deepseek_v3"),
    (r"mistral|ministral|codestral|devstral|magistral|pixtral|voxtral", "mistral_v3"),
    (r"kimi|moonshot", "kimi_k2"),
    (r"glm[-_ ]?[4-9]|zai-glm", "glm4"),
    (r"minimax", "minimax_m3"),
)
_COMPILED = tuple((re.compile(pattern), family) for pattern, family in _RULES)

_CLAUDE_VERSION = re.compile(r"(?<![\d.])(\d)(?:[-.](\d{1,2})(?!\d))?(?!\d)")
_CLAUDE_NEW = (4, 7)
"""The first Claude with the newer tokenizer."""

_EXACT = (
    (r"gpt-?oss|gpt-4o|gpt-4\.[15]|gpt-5|o[134](?=$|[-:@])", "o200k_base"),
    (r"gpt-4(?=$|-turbo|-\d{4})|gpt-3\.?5-turbo|text-embedding-(?:3|ada)", "cl100k_base"),
    (r"(?:meta-)?llama-?3(?!\d)", "llama3"),
    (r"gemma-?3", "gemma3"),
    (r"gemma-?4", "gemma4"),
    (r"qwen-?(?:2|2\.5|3)(?![.\d])", "qwen3"),
    (r"deepseek-(?:v3|r1(?!-distill))", "deepseek_v3"),
    (r"kimi-k2", "kimi_k2"),
    (r"glm-?4", "glm4"),
)
"""Models whose vocabulary the extra `tokens` brings, under the family's name. Narrower than the rules above: a family
stands in for its neighbours where something is estimated, and for nothing where it is counted."""
_COMPILED_EXACT = tuple((re.compile(rf"(?:^|[:.])(?:{pattern})"), family) for pattern, family in _EXACT)


def family_of(model_name: str) -> str | None:
    """The tokenizer family of a model: a key of `families()`, or None where no rule knows the name.

    Args:
        model_name: as in `openai:gpt-5-mini`, `ollama:qwen3:8b`, `http://127.0.0.1:8000/v1#llama3`, `claude-opus-4-8`
            or `openrouter:anthropic/claude-sonnet-4.5`.
    """
    name = _own_name(model_name)
    if "claude" in name:
        return _claude(name.rpartition("claude")[2])
    return next((family for pattern, family in _COMPILED if pattern.search(name)), None)


def _own_name(model_name: str) -> str:
    """What the model itself is called, without address and folders; a scheme in front does no harm."""
    name = model_name.strip().lower()
    if name.startswith(("http://", "https://")):
        name = name.partition("#")[2]
    return name.rstrip("/").replace("\\", "/").rpartition("/")[2]


def _claude(name: str) -> str:
    if "instant" in name:
        return "claude2"
    found = _CLAUDE_VERSION.search(name)
    if found is None:
        return "claude4.8"
    version = int(found[1]), int(found[2] or 0)
    if version < (3, 0):
        return "claude2"
    return "claude3" if version < _CLAUDE_NEW else "claude4.8"


class FamilyCounter:
    """Estimates tokens as one family counts them. There is one object a family: counts are kept by who counted.

    Attributes:
        family: a key of `families()`.
        name: how traces call it.
    """

    __slots__ = ("family", "name")

    def __init__(self, family: str) -> None:
        self.family = family
        self.name = f"estimate ({family})"

    def __call__(self, text: str, /) -> int:
        """Estimate the tokens of a text."""
        return estimate_tokens(text, family=self.family)

    def __repr__(self) -> str:
        return f"<{self.name}>"


class ExactCounter:
    """Counts the tokens of a text with a family's own vocabulary.

    Attributes:
        family: a key of `families()`.
        name: how traces call it.
    """

    __slots__ = ("_encode", "family", "name")

    def __init__(self, family: str, tokenizer: Any) -> None:
        self.family = family
        self.name = f"exact ({family})"
        # Text that looks like a control token is text here: a message cannot end itself.
        self._encode = tokenizer.encode_ordinary

    def __call__(self, text: str, /) -> int:
        """Count the tokens of a text; halves of characters count as question marks."""
        try:
            return len(self._encode(text))
        except UnicodeEncodeError:
            return len(self._encode(text.encode("utf-8", "replace").decode()))

    def __repr__(self) -> str:
        return f"<{self.name}>"


def counter_for(model_name: str) -> TokenCounter:
    """Who estimates for a model: the same object each time for one family.

    Returns:
        A `FamilyCounter`, or `estimate_tokens` itself where no rule knows the name.
    """
    family = family_of(model_name)
    return estimate_tokens if family is None else _estimator(family)


@cache
def _estimator(family: str) -> FamilyCounter:
    return FamilyCounter(family)


def exact_counter(model_name: str) -> TokenCounter:
    """Who counts for a model with its own vocabulary: the same object each time for one family.

    Raises:
        UnknownModel: if no vocabulary of this model is here, as of Claude and Gemini, which publish none.
        MissingExtra: if the optional part `tokens` is not installed.
    """
    name = _own_name(model_name)
    family = next((family for pattern, family in _COMPILED_EXACT if pattern.search(name)), None)
    if family is None:
        raise UnknownModel(model_name, "no vocabulary of it is here; counter_for gives an estimate")
    return _exact(family)


@lru_cache(maxsize=4)
def _exact(family: str) -> ExactCounter:
    try:
        tokenizers = import_module("splintr")
    except ImportError:
        raise MissingExtra("tokens", needed_for="counting exactly") from None
    return ExactCounter(family, tokenizers.Tokenizer.from_pretrained(family))


def counter_name(counter: TokenCounter) -> str:
    """How traces call a counter."""
    if counter is estimate_tokens:
        return "estimate"
    named = getattr(counter, "name", None) or getattr(counter, "__name__", None)
    return str(named or type(counter).__name__)
