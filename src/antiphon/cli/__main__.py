"""The command line, for `python -m antiphon.cli`."""

import sys

from ._entry import main

if __name__ == "__main__":
    sys.exit(main())
