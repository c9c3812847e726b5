"""The command that prints a container's log from a moment on and goes on, under a guard."""

import shlex
from datetime import UTC, datetime

from tui.transport.wrapper import Wrapper, found_widely

BACKLOG_LINES = 300_000
"""So many lines of a log are read at most that is taken up for the first time."""
PING = b"."
PING_INTERVAL_S = 5.0
DEAF_S = 15
"""After so long without a ping the guard ends the tool, as the agent ends itself."""
# The tools read no input and notice no end of it, and those that print nothing notice no end of the link: so
# a shell beside reads, and ends the tool at the end of input, or when no ping came for a while (where there
# is a ``timeout``). Both streams come as one; what the tool started has none of the guard's descriptors.
_GUARD = """\
exec 3<&0
"$@" </dev/null 2>&1 3<&- &
tool=$!
{
if timeout 9 true; then
while [ "$(timeout DEAF_S dd bs=1 count=1 <&3)" = . ]; do :; done
else read -r _ <&3; fi
kill "$tool"; sleep 2; kill -9 "$tool"
} >/dev/null 2>&1 &
guard=$!
exec 3<&- </dev/null
wait "$tool"; status=$?
kill "$guard" 2>/dev/null
exit "$status"
"""


def log_command(wrapper: Wrapper, since_ns: int, *, first: bool, over_ssh: bool) -> list[str]:
    """Return the arguments that print the log with stamps from ``since_ns`` (since 1970) on, and follow it.

    ``first``: of what there is by now only the last ``BACKLOG_LINES`` are printed.
    """
    if wrapper.logs is None:
        raise ValueError(f"{wrapper.kind} keeps no log")
    since = "--since-time" if wrapper.kind == "kubectl" else "--since"
    limit = [f"--tail={BACKLOG_LINES}"] if first else []
    before, behind = wrapper.logs
    tool = [*before, "-f", "--timestamps", f"{since}={rfc3339(since_ns)}", *limit, *behind]
    guard = _GUARD.replace("DEAF_S", str(DEAF_S))
    return ["/bin/sh", "-c", guard, "sh", *found_widely(tool, over_ssh=over_ssh)]


def shown_command(wrapper: Wrapper) -> str:
    """Return the command as a person would type it."""
    before, behind = wrapper.logs or ((), ())
    return shlex.join([*before, *behind])


def rfc3339(moment_ns: int) -> str:
    """Write a moment (ns since 1970) as all of the tools read it."""
    seconds, part = divmod(max(0, moment_ns), 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{part:09d}Z"
