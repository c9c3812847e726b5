"""Where the agent starts, once its sources are here."""

from __future__ import annotations

import os
import signal

from tui.agent.loop import Loop


def main() -> None:
    """Serve the client on the standard streams, in a process group of our own."""
    signal.alarm(0)  # the stub's; from here on the pings tell whether there is a client
    if os.getpgrp() != os.getpid():
        os.setsid()
    Loop(0, 1).run()


if __name__ == "__main__":
    main()
