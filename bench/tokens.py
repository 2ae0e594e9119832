"""Estimating tokens, beside the least that any look at a text takes: one translation and one count."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable
from inspect import getsource

from antiphon.context._families import counter_for
from antiphon.context._tokens import _estimated
from bench.claims import Claim

ROUNDS = 40
SIZE = 100_000
"""Bytes of each text: longer than what is remembered."""
_TABLE = bytes(range(256))


def claims() -> list[Claim]:
    """Measure an estimate of code and of Chinese, and of a short text that was never seen."""
    code = (getsource(json.decoder) + getsource(random)).ljust(SIZE, "x")[:SIZE]
    chinese = "雾终于从水面上散去，渡轮在六点刚过就离开了港口。" * (SIZE // 72)
    counter = counter_for("gpt-5")
    found = [
        _claim(what, text, counter, limit=limit) for what, text, limit in (("code", code, 45), ("Chinese", chinese, 25))
    ]
    short = [f"{i} {code[40 * i : 40 * i + 200]}" for i in range(1_000)]
    began = time.perf_counter()
    for text in short:
        _estimated(text, "o200k_base")
    each = (time.perf_counter() - began) / len(short) * 1e6
    return [*found, Claim("estimating 200 characters never seen before", each, 60)]


def _claim(what: str, text: str, counter: Callable[[str], int], *, limit: float) -> Claim:
    data = text.encode()
    floor = _best(lambda: data.translate(_TABLE).count(b"a"))
    taken = _best(lambda: counter(text))
    size = len(data) / 1e6
    return Claim(
        f"estimating {what}, {size / taken:,.0f} MB/s, a pass over the bytes", taken / floor, limit, 1.0, "ratio"
    )


def _best(run: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        run()
        times.append(time.perf_counter() - began)
    return min(times)
