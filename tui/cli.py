"""Commands and exit codes: read the arguments, call the command, say what is wrong in one line.

Exit codes: 0 ready or done, 1 failed, 2 usage, 3 time-out, 4 host or link, 130 Ctrl-C; 74 and 141 say that
the output could not be written. Nothing heavy is imported before the command that needs it is known:
``--help`` costs the start of Python and typer alone.
"""

import errno
import importlib.util
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, TextIO, cast

import typer

from tui import __version__
from tui.commands import flags, recordings_cli, runs_cli
from tui.settings import Choices, UsageFault

USAGE = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
OUTPUT_FULL = 74
COMMANDS = (
    "watch", "wait", "bench", "runs", "baseline", "compare", "diagnose", "explain", "replay", "recordings",
    "export", "demo",
)  # fmt: skip
ROOT_OPTIONS = ("--help", "--version", "--install-completion", "--show-completion")
OUR_PACKAGES = ("widgets", "themes")

Run = Callable[[], int]
"""A command that typer has understood. It runs outside of typer, which ends a broken pipe with code 1."""

app = typer.Typer(
    name="tminus",
    help="Watch an LLM inference server load: GPUs, readiness, log and verdict.",
    epilog="tminus HOST is tminus watch HOST. Every option has a variable (--ca-file: TMINUS_CA_FILE) "
    "and a key in config.toml. Exit codes: 0 ready, 1 failed, 2 usage, 3 time-out, 4 host or link, "
    "130 Ctrl-C.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help"], "max_content_width": 100},
)


def main() -> None:
    """Run tminus and end the process with its exit code."""
    fill_streams()
    sys.exit(run(sys.argv[1:]))


def fill_streams() -> None:
    """Put the null device where a standard stream was closed, lest a connection takes its number."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.dup(descriptor)
    os.close(descriptor)
    sys.stdin = cast("TextIO | None", sys.stdin) or _stream(0, "r")
    sys.stdout = cast("TextIO | None", sys.stdout) or _stream(1, "w")
    sys.stderr = cast("TextIO | None", sys.stderr) or _stream(2, "w")


def _stream(descriptor: int, mode: str) -> TextIO:
    return cast("TextIO", os.fdopen(descriptor, mode, encoding="utf-8", closefd=False))


def run(args: Sequence[str]) -> int:
    """Run one command line and return the exit code."""
    try:
        check_packages()
        return _dispatch(args)
    except UsageFault as fault:
        return _wrong(str(fault))
    except typer.TyperException as fault:
        return _wrong(_words(fault))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except OSError as fault:
        if fault.errno != errno.ENOSPC:
            raise
        _drop_output()
        _wrong(f"standard output cannot be written: {fault.strerror}")
        return OUTPUT_FULL


def _drop_output() -> None:
    """Let the output end where it is: Python must not complain again when it flushes at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_packages(home: Path | None = None) -> None:
    """Raise UsageFault when another package shadows one of ours (PYTHONPATH, the folder of ``python -m``)."""
    home = home or Path(__file__).resolve().parent.parent
    for name in OUR_PACKAGES:
        spec = importlib.util.find_spec(name)
        origin = None if spec is None else spec.origin
        if origin is None:
            raise UsageFault(f"the package {name} of tminus is missing beside {home}: install tminus again")
        if Path(origin).resolve().parent.parent != home:
            place = Path(origin).parent
            raise UsageFault(
                f"another package named {name} shadows this one: {place}; unset PYTHONPATH or start elsewhere"
            )


def with_command(args: Sequence[str]) -> list[str]:
    """Return the arguments with ``watch`` put first where no command is named."""
    if args and (args[0] in COMMANDS or args[0] in ROOT_OPTIONS):
        return list(args)
    return ["watch", *args]


def _dispatch(args: Sequence[str]) -> int:
    whole = with_command(args)
    implied = len(whole) > len(args)
    result: object = app(args=whole, prog_name="tminus", standalone_mode=False, obj=implied)
    return cast("Run", result)() if callable(result) else 0


def _wrong(sentence: str) -> int:
    # Names of files are in it as they are, and a name may hold anything.
    from tui.transport.clean import clean

    safe = clean(" ".join(sentence.splitlines()))
    try:
        sys.stderr.write(f"tminus: {safe}\n")
    except OSError:
        return USAGE  # nobody can be told in words; the code still tells
    return USAGE


def _words(fault: typer.TyperException) -> str:
    """Return one line for what typer found wrong, with the nearest option where there is one."""
    command: object = getattr(getattr(fault, "ctx", None), "command_path", "tminus")
    option: object = getattr(fault, "option_name", None)
    if type(fault).__name__ == "NoSuchOption" and isinstance(option, str):
        known = cast("list[str]", getattr(fault, "possibilities", None) or [])
        hint = f"did you mean {' or '.join(known)}?" if known else f"see {command} --help"
        return f"there is no option {option}; {hint}"
    message = " ".join(fault.format_message().split()).rstrip(".")
    return f"{message[:1].lower()}{message[1:]}; see {command} --help"


def _choices(context: typer.Context) -> Choices:
    chosen = flags.choices_of(context)
    for name in (chosen.host, *chosen.others):
        if context.obj is True and name in COMMANDS:
            raise UsageFault(
                f"put the command first: tminus {name} ...; for a host of that name: tminus watch {name}"
            )
    return chosen


def _only_one(chosen: Choices, command: str) -> None:
    if chosen.others:
        names = ", ".join((chosen.host or "", *chosen.others))
        raise UsageFault(f"{command} takes one HOST, not {len(chosen.others) + 1}: {names}")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"tminus {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Show the version.", show_default=False
        ),
    ] = False,
) -> None:
    """Watch an LLM inference server load: GPUs, readiness, log and verdict."""


@app.command()
def watch(
    context: typer.Context,
    host: flags.Host = None,
    port: flags.Port = None,
    url: flags.Url = None,
    log: flags.Log = None,
    pid: flags.Pid = None,
    model: flags.Model = None,
    interval: flags.Interval = None,
    bench_on_ready: flags.BenchOnReady = None,
    profile: flags.Profile = None,
    once: flags.Once = None,
    json: flags.Json = None,
    theme: flags.Theme = None,
    glyphs: flags.Glyphs = None,
    mouse: flags.Mouse = None,
    api_key_env: flags.ApiKeyEnv = None,
    ready_on: flags.ReadyOn = None,
    insecure: flags.Insecure = None,
    ca_file: flags.CaFile = None,
    record: flags.Record = None,
    ssh_config: flags.SshConfig = None,
    ssh_cmd: flags.SshCmd = None,
    accept_new: flags.AcceptNew = None,
    docker: flags.Docker = None,
    podman: flags.Podman = None,
    kubectl: flags.Kubectl = None,
    srun: flags.Srun = None,
) -> Run:
    """Watch a host on a screen (the default command). HOST is local, or anything ssh takes."""
    chosen = _choices(context)
    if chosen.once:
        from tui.commands import once as command
    else:
        from tui.commands import watch as command
    return partial(command.run, chosen)


@app.command()
def wait(
    context: typer.Context,
    host: flags.Host = None,
    url: flags.Url = None,
    model: flags.Model = None,
    timeout: flags.Timeout = None,
    json: flags.Json = None,
    restarts: flags.Restarts = None,
    fail_on: flags.FailOn = None,
    port: flags.Port = None,
    log: flags.Log = None,
    pid: flags.Pid = None,
    interval: flags.Interval = None,
    ready_on: flags.ReadyOn = None,
    api_key_env: flags.ApiKeyEnv = None,
    insecure: flags.Insecure = None,
    ca_file: flags.CaFile = None,
    record: flags.Record = None,
    ssh_config: flags.SshConfig = None,
    ssh_cmd: flags.SshCmd = None,
    accept_new: flags.AcceptNew = None,
    docker: flags.Docker = None,
    podman: flags.Podman = None,
    kubectl: flags.Kubectl = None,
    srun: flags.Srun = None,
) -> Run:
    """Wait until a server is ready, without a screen. The exit code says how it ended."""
    chosen = _choices(context)
    from tui.commands import wait as command

    return partial(command.run, chosen)


@app.command()
def bench(
    context: typer.Context,
    host: flags.OneHost = None,
    url: flags.Url = None,
    model: flags.Model = None,
    profile: flags.Profile = None,
    list_all: flags.ListProfiles = False,
    concurrency: flags.Concurrency = None,
    requests: flags.Requests = None,
    input_tokens: flags.InputTokens = None,
    output_tokens: flags.OutputTokens = None,
    rate: flags.Rate = None,
    arrival: flags.Arrival = None,
    duration: flags.Duration = None,
    warmup: flags.Warmup = None,
    turns: flags.Turns = None,
    prefix_tokens: flags.PrefixTokens = None,
    data: flags.Data = None,
    seed: flags.Seed = None,
    ttft_limit_ms: flags.TtftLimit = None,
    tpot_limit_ms: flags.TpotLimit = None,
    e2e_limit_ms: flags.E2eLimit = None,
    flush_cache: flags.FlushCache = None,
    anyway: flags.Anyway = None,
    self_test: flags.SelfTest = False,
    json: flags.Json = None,
    port: flags.Port = None,
    pid: flags.Pid = None,
    api_key_env: flags.ApiKeyEnv = None,
    insecure: flags.Insecure = None,
    ca_file: flags.CaFile = None,
    record: flags.Record = None,
    ssh_config: flags.SshConfig = None,
    ssh_cmd: flags.SshCmd = None,
    accept_new: flags.AcceptNew = None,
    docker: flags.Docker = None,
    podman: flags.Podman = None,
    kubectl: flags.Kubectl = None,
    srun: flags.Srun = None,
) -> Run:
    """Benchmark a ready server with streaming chat completions, beside the server."""
    chosen = _choices(context)
    if list_all:
        from tui.commands import bench_list

        return partial(bench_list.run, chosen)
    _only_one(chosen, "bench")
    if self_test:
        from tui.commands import self_test as tested

        return partial(tested.run, chosen)
    from tui.commands import bench_run as command

    return partial(command.run, chosen)


app.add_typer(runs_cli.app, name="runs")
app.command()(runs_cli.baseline)
app.command()(runs_cli.compare)


@app.command()
def diagnose(
    context: typer.Context,
    host: flags.OneHost = None,
    json: flags.Json = None,
    port: flags.Port = None,
    url: flags.Url = None,
    log: flags.Log = None,
    pid: flags.Pid = None,
    model: flags.Model = None,
    interval: flags.Interval = None,
    api_key_env: flags.ApiKeyEnv = None,
    ready_on: flags.ReadyOn = None,
    insecure: flags.Insecure = None,
    ca_file: flags.CaFile = None,
    record: flags.Record = None,
    ssh_config: flags.SshConfig = None,
    ssh_cmd: flags.SshCmd = None,
    accept_new: flags.AcceptNew = None,
    docker: flags.Docker = None,
    podman: flags.Podman = None,
    kubectl: flags.Kubectl = None,
    srun: flags.Srun = None,
) -> Run:
    """Look into the quiet ranks: three stack dumps by py-spy, then NCCL RAS. Says first what it touches."""
    chosen = _choices(context)
    _only_one(chosen, "diagnose")
    from tui.commands import diagnose as command

    return partial(command.run, chosen)


@app.command()
def explain(
    context: typer.Context,
    logs: flags.Logs,
    engine: flags.EngineName = None,
    json: flags.Json = None,
) -> Run:
    """Say what a server's log tells: phases, times, outcome and root cause. Exit code 0 whatever it tells."""
    chosen = _choices(context)
    from tui.commands import explain as command

    return partial(command.run, logs, chosen)


app.command()(recordings_cli.replay)
app.command()(recordings_cli.recordings)
app.command()(recordings_cli.export)


@app.command()
def demo(
    context: typer.Context,
    scenario: flags.Scenario = None,
    list_all: flags.ListScenarios = False,
    headless: flags.Headless = None,
    speed: flags.Speed = None,
    json: flags.Json = None,
    theme: flags.Theme = None,
    glyphs: flags.Glyphs = None,
    mouse: flags.Mouse = None,
) -> Run:
    """Show a simulated 8-GPU load; needs no GPU, network or root."""
    chosen = _choices(context)
    from tui.commands import demo as command

    return partial(command.run, chosen, list_all=list_all)
