"""Speed and size, each beside a floor measured in the same run on the same disk.

Prints a line a claim and ends with 1 if one does not hold. Figures depend on the machine; the ratios should not.
"""

from __future__ import annotations

import asyncio
import sys

from bench import blocking, context, imports, opening, size, storing, streaming, tokens, tools, turns
from bench.claims import Claim, report


def main() -> int:
    """Measure everything, print it, and say by the exit code whether every claim holds."""
    claims: list[Claim] = []
    measures = (storing, opening, turns, tools, size, streaming, context)
    for measure in measures:
        claims += asyncio.run(measure.claims())
    claims += blocking.claims()
    claims += tokens.claims()
    claims += imports.claims()
    report(claims)
    return 0 if all(claim.holds for claim in claims) else 1


if __name__ == "__main__":
    sys.exit(main())
