"""Regular expressions that find a server among the command lines of a host, and nothing that names one.

A command line is the arguments joined with single spaces, so a path may hold spaces. An editor, a pager, a
shell, a container client or a tracer with a server's command line behind it is not that server.
"""

_SHELLS = r"(?:ba|da|a|z|k|fi|c|tc)?sh|busybox|tmux|screen|script|watch|(?:auto)?ssh|sshpass|mosh|scp|rsync"
_WRAPPERS = r"su|sudo|doas|env|nohup|setsid|timeout|time|nice|ionice|stdbuf|numactl|taskset|chrt|xargs"
_CONTAINERS = r"docker|podman|nerdctl|kubectl|crictl|ctr|tini|dumb-init|catatonit|s6-supervise|supervisord"
_CLUSTERS = r"srun|sbatch|salloc|mpirun|mpiexec|ray|torchrun"
_READERS = r"n?vim?|nano|emacs|code|less|more|cat|bat|tee|tail|head|[ef]?grep|rg|ag|[gm]?awk|sed|find|man|git"
_TOOLS = r"pkill|pgrep|killall|ps|h?top|[sl]trace|gdb|py-spy|nsys|ncu|perf|make|curl|wget"
_INSTALLERS = r"pip[\d.]*|pipx|uvx?|poetry|conda|mamba|micromamba"
_OTHERS = "|".join((_SHELLS, _WRAPPERS, _CONTAINERS, _CLUSTERS, _READERS, _TOOLS, _INSTALLERS))
_NO_OTHER = rf"^(?!(?:\S*/)?(?:{_OTHERS})(?: |$))"
# A directory may hold spaces; a space before an option or before another path ends the program's name.
_DIRECTORY = r"(?:(?:(?! [-/~.]).)*/)?"
_PYTHON = rf"{_NO_OTHER}{_DIRECTORY}(?:python|pypy)[\d.]*t?"
_END = r"(?: |$)"


def module(name: str) -> str:
    """Return a pattern for ``python -m NAME`` with any interpreter options; ``name`` is a pattern."""
    return rf"{_PYTHON}(?: -\S+(?: (?!-)\S+)?)*? -\w*m {name}{_END}"


def script(path: str) -> str:
    """Return a pattern for ``python DIRECTORY/PATH``; ``path`` is a pattern."""
    return rf"{_PYTHON}(?: -\S+)*? {_DIRECTORY}{path}{_END}"


def program(name: str) -> str:
    """Return a pattern for a program run by its own name, with or without a directory."""
    return rf"{_NO_OTHER}{_DIRECTORY}{name}{_END}"
