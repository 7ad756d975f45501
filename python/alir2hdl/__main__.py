"""The program: `python -m alir2hdl`, and the command `alir2hdl` that the wheel installs."""

import signal
import sys

from ._alir2hdl import program


def main() -> None:
    """Runs it on the process's arguments."""
    # Ctrl-C ends the process, as it does with the program by itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(program(["alir2hdl", *sys.argv[1:]]))


if __name__ == "__main__":
    main()
