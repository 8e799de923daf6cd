"""The program ``litepress``: ``python -m litepress``."""

from __future__ import annotations

import signal
import sys

from . import _litepress


def main() -> None:
    """Run the program with the arguments of this process, and exit with its code."""
    # Python would only note the signal, and the program never ask for it. One that is ignored stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_litepress.run_program(["litepress", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
