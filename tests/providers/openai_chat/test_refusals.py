"""What servers answer when they do not: which error it is, and what of it is told."""

# ruff: noqa: E501 - sentences on record stand whole

from typing import Any

import pytest

from antiphon.errors import (
    BadCredentials,
    ContextTooLong,
    InvalidRequest,
    ModelError,
    Overloaded,
    RateLimited,
    Refused,
    UnknownModel,
)
from antiphon.providers._transport import Answer
from antiphon.providers.openai_chat._refusals import refusal
from tests.providers.openai_chat.server import refusing

WHERE = "http://127.0.0.1:1/v1/chat/completions"


def error_of(status: int, body: Any = None, **headers: str) -> ModelError:
    """The error of an answer."""
    served = refusing(status, body, **headers)
    answer = Answer(status, served.headers, b"".join(served.pieces))
    return refusal("m", answer, address=WHERE, hide=lambda text: text.replace("sk-secret", "[hidden]"))


def told(message: str, **fields: Any) -> dict[str, Any]:
    """A body in OpenAI's form."""
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None, **fields}}


TOO_LONG = [
    (400, told("This model's maximum context length is 128000 tokens. However, your messages resulted in 160008 tokens. Please reduce the length of the messages.", code="context_length_exceeded")),
    (400, told("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.")),
    (400, told("Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 300007 tokens. Please reduce the length of the messages.")),
    (400, told("Your input exceeds the context window of this model. Please adjust your input and try again.")),
    (400, {"error": {"code": 400, "message": "request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it", "type": "exceed_context_size_error", "n_prompt_tokens": 13392, "n_ctx": 8192}}),
    (500, {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}),
    (400, told("You passed 31745 input tokens and requested 1024 output tokens. However, the model's context length is only 32768 tokens, resulting in a maximum input length of 31744 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=31745)", type="BadRequestError", code=400)),
    (400, {"error": "Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"}),
    (400, {"object": "error", "message": "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", "type": "invalid_request_error", "param": None, "code": "3051"}),
    (400, told("the prompt is longer than the context length currently available to the model; reduce it")),
    (400, told("the input length exceeds the context length")),
    (400, told("This model's maximum prompt length is 131072 but the request contains 537812 tokens.")),
    (400, told("Please reduce the length of the messages or completion.")),
    (400, told("prompt token count of 70000 exceeds the limit of 64000")),
    (400, told("Invalid request: Your request exceeded model token limit: 262144")),
    (413, told("Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 7000", code="rate_limit_exceeded")),
    (413, None),
    (400, None),
    (400, told("prompt is too long: 213462 tokens > 200000 maximum")),
    (400, told("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).")),
]  # fmt: skip


@pytest.mark.parametrize(("status", "body"), TOO_LONG)
def test_too_long_is_heard(status: int, body: Any) -> None:
    """Every server's words for a request that is too long are understood, and told."""
    error = error_of(status, body)
    assert isinstance(error, ContextTooLong) and error.status == status and error.found


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, told("Incorrect API key provided.", code="invalid_api_key"), BadCredentials),
        (403, told("You may not."), BadCredentials),
        (400, told("no such key", code="invalid_api_key"), BadCredentials),
        (
            404,
            told("The model `x` does not exist or you do not have access to it.", code="model_not_found"),
            UnknownModel,
        ),
        (404, told('model "x" not found, try pulling it first', type="api_error"), UnknownModel),
        (
            404,
            {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404},
            UnknownModel,
        ),
        (404, {"detail": "Not Found"}, InvalidRequest),
        (404, b"404 page not found", InvalidRequest),
        (
            400,
            told("Your request was rejected as a result of our safety system.", code="content_policy_violation"),
            Refused,
        ),
        (
            400,
            told(
                "The response was filtered", code="content_filter", innererror={"code": "ResponsibleAIPolicyViolation"}
            ),
            Refused,
        ),
        (
            400,
            told("Invalid prompt: flagged as potentially violating our usage policy.", code="invalid_prompt"),
            Refused,
        ),
        (429, told("Rate limit reached", code="rate_limit_exceeded"), RateLimited),
        (429, told("Too many tokens per minute: please reduce the length of the messages"), RateLimited),
        (402, told("Payment required"), InvalidRequest),
        (422, {"detail": [{"msg": "field required"}]}, InvalidRequest),
        (400, told("Unknown parameter: 'x'.", code="unknown_parameter"), InvalidRequest),
        (408, None, Overloaded),
        (409, told("conflict"), Overloaded),
        (500, b"<html><head><title>502 Bad Gateway</title></head></html>", Overloaded),
        (503, told("loading model", type="unavailable_error"), Overloaded),
        (529, None, Overloaded),
    ],
)
def test_each_status_has_its_error(status: int, body: Any, kind: type[ModelError]) -> None:
    """Status, code and words together decide which error it is, and whether the same may succeed later."""
    error = error_of(status, body)
    assert (type(error), error.status) == (kind, status)
    assert error.retryable is (status in (408, 409, 429) or status >= 500)


def test_an_empty_account_is_final() -> None:
    """Out of quota is a limit that no waiting lifts."""
    error = error_of(
        429, told("You exceeded your current quota.", type="insufficient_quota", code="insufficient_quota")
    )
    assert isinstance(error, RateLimited) and not error.retryable


def test_the_wait_is_told() -> None:
    """How long the server asks to wait is a fact of the error."""
    assert error_of(429, told("slow"), retry_after="7").retry_after == 7


@pytest.mark.parametrize(
    ("status", "body", "found"),
    [
        (400, told("x" * 400), "x" * 299 + "…"),
        (400, told("a\n\n  b"), "a b"),
        (400, told("the key sk-secret is " + "y" * 300), "the key [hidden] is " + "y" * 279 + "…"),
        (400, {"error": "as a text"}, "as a text"),
        (400, {"detail": "of a framework"}, "of a framework"),
        (400, [{"error": {"message": "in a list"}}], "in a list"),
        (502, b"<html><title>502 Bad\nGateway</title>", "a web page titled '502 Bad Gateway'"),
        (502, b"<!doctype html>", "a web page"),
        (500, b"plain words", "plain words"),
        (500, b"\xff\xfe", "\ufffd\ufffd"),
        (500, None, ""),
        (307, None, f"{WHERE} sends elsewhere, and redirects are not followed"),
        (
            404,
            b"404 page not found",
            f"nothing answers at {WHERE}; a base_url usually ends in /v1 (404 page not found)",
        ),
    ],
)
def test_what_is_told_is_short_and_holds_no_secret(status: int, body: Any, found: str) -> None:
    """Of a server's words at most 300 characters are told, on one line, a page by its title, a secret never."""
    assert error_of(status, body).found.replace("\\n", " ") == found
