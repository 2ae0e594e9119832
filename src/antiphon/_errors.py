"""The root of all errors, which remember the facts they were made of."""

from __future__ import annotations

from typing import Any, Self


class AntiphonError(Exception):
    """The root of all errors raised by Antiphon.

    Attributes:
        turn_id: the turn that this error ended, or None.
    """

    turn_id: str | None = None
    _call: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Remember the facts, so that pickle and copy can build the error again."""
        self = super().__new__(cls, *args)
        self._call = (args, kwargs)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        state = {name: value for name, value in self.__dict__.items() if name != "_call"}
        return _built_again, (type(self), self._call), state


def _built_again(cls: type[AntiphonError], call: tuple[tuple[Any, ...], dict[str, Any]]) -> AntiphonError:
    args, kwargs = call
    return cls(*args, **kwargs)
