"""A container's log that cannot be read, told by the tool's own words; and what of it is missing.

A row without a sentence is usual: the tool is started again and nothing is said.
"""

from tui.transport.faults.row import Row

_KEPT_IN_FILE = "let the server write to a file and name it with --log"

# fmt: off
ROWS: dict[str, Row] = {
    "log_driver": Row("log", False,
        "the container {name} keeps no log that `{command}` could read (its logging driver does not): "
        + _KEPT_IN_FILE,
        tools="docker podman",
        pattern=r"logging driver does not support reading|'none' log driver|none log driver"),
    "log_forbidden": Row("log", False,
        "the cluster does not let this user read the log of {name} ({said}): it needs the right to get "
        "pods/log there, or " + _KEPT_IN_FILE,
        tools="kubectl",
        pattern=r"\(Forbidden\)|is forbidden|\(Unauthorized\)|must be logged in"),
    "log_starting": Row("log", True, "",
        tools="kubectl",
        pattern=r"is waiting to start|ContainerCreating|PodInitializing|trying and failing to pull"),
    "log_collected": Row("log", True, "",
        tools="kubectl",
        pattern=r"unable to retrieve container logs|previous terminated container"
        r"|failed to try resolving symlinks|failed to (?:watch|open|create fsnotify)"),
    "log_cut": Row("log", True, "",
        tools="docker podman kubectl",
        pattern=r"unexpected EOF|lost connection|connection reset by peer|http2: |stream error|i/o timeout"
        r"|error sending request|TLS handshake timeout|context deadline exceeded"),
    # By no words of its own.
    "log_no_way": Row("log", False,
        "no log of the container: {why}"),
    "log_command_ended": Row("log", True,
        "`{command}` ended (exit status {status}): {said}"),
    "log_of_job": Row("log", False,
        "the server's output goes to Slurm, which hands it to the step's own srun or file alone: name "
        "that file with --log (StdOut in `scontrol show job {job}`)"),
    "log_rotated_away": Row("log", False,
        "what was written between {before} and {after} may be missing: `{command}` has no longer what came "
        "last (rotated away?)"),
    "log_too_long": Row("log", False,
        "only the last {lines} lines of `{command}` are read: it is too long"),
}
# fmt: on
