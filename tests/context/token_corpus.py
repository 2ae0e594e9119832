"""Texts of many classes to hold the token estimate against an exact count, the same on every machine.

Languages and languages of programs are written in `token_texts/`, a file a class; what machines write is generated
here from a fixed seed; Python's sources and documentation are those of the running Python, so that their figures
differ a little between versions.
"""

import argparse
import ast
import base64
import dis
import io
import json
import pprint
import pydoc
import random
import string
import textwrap
import uuid
from collections.abc import Callable, Sequence
from difflib import unified_diff
from importlib import import_module
from inspect import getsource
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "token_texts"
LENGTH = 1_500
"""Characters of a text that is cut from something longer."""


def _words(text: str) -> list[str]:
    return text.split()


WORDS = _words(
    "account address amount archive average balance branch budget buffer cache catalog center channel client column "
    "comment config counter country customer database default delivery device discount document driver engine event "
    "failure feature folder format gateway header history image index input invoice journal language layer library "
    "limit machine market measure member memory message method minute module network notice number object office "
    "option order output package parser partner password payment period person picture planet player policy price "
    "printer process product profile project question queue random record region report request result season second "
    "section server service session signal source station status stream string summer supply switch system target "
    "ticket traffic update value version vessel volume warning weather window winter worker"
)
NAMES = _words(
    "Ana Boris Chidi Dalia Emil Farid Greta Hana Ivo Jonas Kira Luis Mei Nadia Olga Pavel Quinn Rosa Sven Tara"
)


def corpus() -> dict[str, list[str]]:
    """Every class and its texts."""
    written = {
        path.stem.replace("-", " "): [text.strip("\n") for text in path.read_text("utf-8").split("\n----\n")]
        for path in sorted(HERE.glob("*.txt"))
    }
    return written | {name: made(random.Random(name)) for name, made in GENERATED.items()} | _pythons()


def _pythons() -> dict[str, list[str]]:
    """What the running Python brings."""
    modules = ("argparse", "json.decoder", "asyncio.tasks", "http.client", "csv", "heapq", "textwrap", "zipfile")
    sources = [getsource(import_module(name)) for name in modules]
    topics: dict[str, str] = import_module("pydoc_data.topics").topics
    functions = (argparse.ArgumentParser.parse_known_args, textwrap.dedent, json.dumps, random.Random.choices)
    return {
        "python": _cuts(sources),
        "python documentation": _cuts([topics[name] for name in ("class", "with", "try", "import", "strings", "for")]),
        "python help": _cuts(
            [pydoc.plain(pydoc.render_doc(import_module(name))) for name in ("csv", "heapq", "random")]
        ),
        "python bytecode": _cuts([_disassembled(function) for function in functions]),
        "python syntax trees": _cuts([ast.dump(ast.parse(source)) for source in sources[4:7]]),
        "generated html": _cuts([pydoc.HTMLDoc().document(import_module(name)) for name in ("heapq", "csv")]),
        "diff": _cuts([_changed(source) for source in sources[:4]]),
    }


def _cuts(texts: Sequence[str]) -> list[str]:
    """Two pieces of each text, from within."""
    cuts = [text[at : at + LENGTH] for text in texts for at in (len(text) // 5, len(text) // 2)]
    return list(dict.fromkeys(cut for cut in cuts if len(cut) > LENGTH // 2))


def _disassembled(function: Callable[..., Any]) -> str:
    written = io.StringIO()
    dis.dis(function, file=written)
    return written.getvalue()


def _changed(source: str) -> str:
    lines = source.splitlines(keepends=True)
    changed = [line.replace("self", "this") if i % 9 == 0 else line for i, line in enumerate(lines) if i % 31]
    return "".join(unified_diff(lines, changed, "a/lib.py", "b/lib.py"))


def _several(made: Callable[[random.Random], str]) -> Callable[[random.Random], list[str]]:
    return lambda chance: [made(chance) for _ in range(6)]


def _lines(made: Callable[[random.Random], str], count: int = 20) -> Callable[[random.Random], list[str]]:
    return _several(lambda chance: "\n".join(made(chance) for _ in range(count)))


def _order(chance: random.Random) -> dict[str, Any]:
    return {
        "id": chance.randrange(10_000, 99_999),
        "customer": {
            "name": chance.choice(NAMES),
            "email": f"{chance.choice(NAMES).lower()}@example.org",
            "vip": chance.random() < 0.3,
        },
        "created_at": _moment(chance),
        "items": [
            {
                "sku": f"{chance.choice(WORDS)}-{chance.randrange(999)}",
                "quantity": chance.randrange(1, 9),
                "price": round(chance.uniform(1, 300), 2),
            }
            for _ in range(3)
        ],
        "note": None if chance.random() < 0.5 else " ".join(chance.sample(WORDS, 6)),
        "shippingAddress": {"city": "Oslo", "postalCode": str(chance.randrange(10_000, 99_999))},
    }


def _moment(chance: random.Random) -> str:
    day, hour = f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}", chance.randrange(24)
    return f"{day}T{hour:02}:{chance.randrange(60):02}:{chance.randrange(60):02}.{chance.randrange(1000):03}Z"


def _address(chance: random.Random) -> str:
    return ".".join(str(chance.randrange(256)) for _ in range(4))


def _log(chance: random.Random) -> str:
    level = chance.choice(["INFO", "INFO", "DEBUG", "WARNING", "ERROR"])
    where = f"app.{chance.choice(WORDS)}.{chance.choice(WORDS)}"
    said = f"{' '.join(chance.sample(WORDS, 4))} took {chance.randrange(9_000)} ms (id={chance.randrange(10**6)})"
    return f"{_moment(chance).replace('T', ' ')[:-1]} {level:<8} [{where}] {said}"


def _visit(chance: random.Random) -> str:
    when = f"{chance.randrange(1, 29):02}/Mar/2026:{chance.randrange(24):02}:{chance.randrange(60):02}:07 +0000"
    asked = f"GET /api/v2/{chance.choice(WORDS)}s/{chance.randrange(99_999)} HTTP/1.1"
    given = f"{chance.choice([200, 304, 404])} {chance.randrange(90_000)}"
    return f'{_address(chance)} - - [{when}] "{asked}" {given} "-" "curl/8.5.0"'


def _listed(chance: random.Random) -> str:
    when = f"Mar {chance.randrange(1, 29):>2} 09:{chance.randrange(60):02}"
    return f"-rw-r--r--  1 root root {chance.randrange(10**6):>9} {when} {'_'.join(chance.sample(WORDS, 2))}.py"


def _url(chance: random.Random) -> str:
    path = "/".join(chance.sample(WORDS, 3))
    asked = f"{chance.choice(WORDS)}={chance.randrange(10**6)}&utm_source=news#{chance.choice(WORDS)}"
    return f"https://{chance.choice(WORDS)}.example.com/{path}?{asked}"


def _failure(chance: random.Random) -> str:
    return "\n".join(["Traceback (most recent call last):", *(_frame(chance) for _ in range(8)), "KeyError: 'total'"])


def _frame(chance: random.Random) -> str:
    folder, module, *name, said, given = chance.sample(WORDS, 6)
    place = f'File "/srv/app/lib/{folder}/{module}.py", line {chance.randrange(900)}, in {"_".join(name)}'
    return f"  {place}\n    return self._{said}({given}, {module}=None)"


def _dumped(chance: random.Random) -> str:
    rows = [chance.randbytes(16) for _ in range(16)]
    shown = ["".join(chr(byte) if 32 <= byte < 127 else "." for byte in row) for row in rows]
    return "\n".join(
        f"{16 * i:08x}  {row.hex(' ')}  |{text}|" for i, (row, text) in enumerate(zip(rows, shown, strict=True))
    )


def _table(chance: random.Random) -> str:
    figures = f"{chance.randrange(10**5):>12,}{chance.uniform(0, 100):>10.1f} %"
    return f"{chance.choice(WORDS):<20}{figures}   {chance.choice(NAMES):<10}{chance.choice(WORDS)}"


def _record(chance: random.Random) -> str:
    who = f"{chance.randrange(10**5)},{chance.choice(NAMES)},{chance.choice(WORDS)}"
    return f"{who},{_moment(chance)[:10]},{chance.uniform(1, 900):.2f}"


GENERATED: dict[str, Callable[[random.Random], list[str]]] = {
    "base64": _several(lambda chance: base64.b64encode(chance.randbytes(900)).decode()),
    "hexadecimal digests": _lines(lambda chance: chance.randbytes(32).hex()),
    "uuids": _lines(lambda chance: str(uuid.UUID(int=chance.getrandbits(128), version=4))),
    "random passwords": _lines(lambda chance: "".join(chance.choices(string.ascii_letters + string.digits, k=20))),
    "csv of numbers": _lines(lambda chance: ",".join(f"{chance.gauss(0, 100):.3f}" for _ in range(8))),
    "csv of records": _lines(_record),
    "json, pretty": _several(lambda chance: json.dumps([_order(chance) for _ in range(3)], indent=2)),
    "json, compact": _several(lambda chance: json.dumps([_order(chance) for _ in range(4)], separators=(",", ":"))),
    "json lines": _lines(lambda chance: json.dumps(_order(chance)), count=4),
    "python literals": _several(lambda chance: pprint.pformat([_order(chance) for _ in range(3)], width=100)),
    "log": _lines(_log),
    "access log": _lines(_visit, count=15),
    "file listing": _lines(_listed),
    "traceback": _several(_failure),
    "addresses of pages": _lines(_url),
    "addresses of hosts": _lines(lambda chance: f"{_address(chance)}:{chance.randrange(1024, 65_536)}", count=40),
    "moments": _lines(_moment, count=40),
    "constants": _lines(
        lambda chance: "_".join(chance.sample(WORDS, 3)).upper() + f" = {chance.randrange(4096)}", count=40
    ),
    "hexadecimal dump": _several(_dumped),
    "table in columns": _lines(_table),
}
