"""`python -m swizproof`: the program, with the words behind it."""

import signal
import sys

from . import _swizproof


def main() -> int:
    """Runs the command line of this process; returns its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as the program: a signal ends it
    return _swizproof.run(["swizproof", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
