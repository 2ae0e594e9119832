"""Kinds of types that are told apart without importing what they come from."""

from __future__ import annotations

from typing import Any


def is_pydantic(kind: Any) -> bool:
    """Whether a type is a pydantic model; pydantic itself is never imported."""
    return isinstance(kind, type) and hasattr(kind, "model_json_schema") and hasattr(kind, "model_validate")
