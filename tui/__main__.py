"""``tminus`` and ``python -m tui``: the way in, open to Ctrl-C while what a command needs is imported."""

import signal
import sys

INTERRUPTED = 130


def main() -> None:
    """Run tminus and end the process with its exit code."""
    # A parent that ignores the ends of its children hands that on, and then ours could not be waited for.
    if hasattr(signal, "SIGCHLD") and signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        from tui.cli import main as run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
