"""``tminus`` and ``python -m tui``: the way in, open to Ctrl-C while what a command needs is imported."""

import sys

INTERRUPTED = 130


def main() -> None:
    """Run tminus and end the process with its exit code."""
    try:
        from tui.cli import main as run
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    run()


if __name__ == "__main__":
    main()
