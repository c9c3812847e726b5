"""The options of the commands, each written once. All are text here; tui/settings.py reads them."""

import os
from typing import Annotated

import typer

from tui import settings

Text = str | None
Switch = bool | None

Hosts = list[str] | None
Host = Annotated[
    Hosts,
    typer.Argument(
        metavar="[HOST]...", help="local, or anything ssh takes; several at once.", show_default=False
    ),
]
OneHost = Annotated[
    Hosts, typer.Argument(metavar="[HOST]", help="local, or anything ssh takes.", show_default=False)
]
Port = Annotated[Text, typer.Option("--port", metavar="N", help="Follow the server on this port.")]
Url = Annotated[
    Text,
    typer.Option("--url", metavar="URL", help="The server. Without HOST: readiness and benchmark only."),
]
Log = Annotated[
    Text, typer.Option("--log", metavar="PATH", help="The server's log on the host, where it is not found.")
]
Pid = Annotated[Text, typer.Option("--pid", metavar="N", help="Follow this process and its children.")]
Model = Annotated[Text, typer.Option("--model", metavar="ID", help="The model id that must be served.")]
Interval = Annotated[
    Text, typer.Option("--interval", metavar="SECONDS", help="Seconds between two samples (default 1).")
]
BenchOnReady = Annotated[
    Switch, typer.Option("--bench-on-ready", help="Benchmark as soon as the server is ready.")
]
Once = Annotated[
    Switch, typer.Option("--once", help="Print one snapshot and end (with --json).", show_default=False)
]
Json = Annotated[Switch, typer.Option("--json", help="JSON instead of words.", show_default=False)]
Theme = Annotated[Text, typer.Option("--theme", metavar="NAME", help="A colour theme.")]
Glyphs = Annotated[
    Text, typer.Option("--glyphs", metavar="SET", help="auto, block, ascii or braille.", show_default=False)
]
Mouse = Annotated[
    Switch,
    typer.Option(
        "--mouse/--no-mouse", help="Use the mouse, or leave it to the terminal.", show_default=False
    ),
]
ApiKeyEnv = Annotated[
    Text,
    typer.Option(
        "--api-key-env", metavar="NAME", help="The variable that holds the API key (default OPENAI_API_KEY)."
    ),
]
ReadyOn = Annotated[
    Text,
    typer.Option("--ready-on", metavar="RUNG", help="Ready is token (default), model or health."),
]
Insecure = Annotated[
    Switch,
    typer.Option("--insecure/--no-insecure", help="Accept any TLS certificate.", show_default=False),
]
CaFile = Annotated[
    Text,
    typer.Option("--ca-file", metavar="FILE", help="Own CA certificates, on the machine that asks (HOST)."),
]
Record = Annotated[
    Switch,
    typer.Option(
        "--record/--no-record", help="Keep a recording, and runs and loads in the ledger.", show_default=False
    ),
]
SshConfig = Annotated[
    Text, typer.Option("--ssh-config", metavar="FILE", help="Read this instead of ~/.ssh/config.")
]
SshCmd = Annotated[
    Text,
    typer.Option("--ssh-cmd", metavar="COMMAND", help="The way to HOST: 'ssh -J x', 'tsh ssh', any prefix."),
]
AcceptNew = Annotated[
    Switch,
    typer.Option(
        "--accept-new",
        help="Add an unknown SSH host key unasked; a changed one is refused.",
        show_default=False,
    ),
]
Docker = Annotated[
    Text, typer.Option("--docker", metavar="NAME", help="Watch inside this container, on HOST or here.")
]
Podman = Annotated[Text, typer.Option("--podman", metavar="NAME", help="The same with Podman.")]
Kubectl = Annotated[
    Text,
    typer.Option(
        "--kubectl",
        metavar="[CONTEXT/]NS/POD[/CONTAINER]",
        help="Watch inside this pod, by the kubectl of HOST or of this machine.",
    ),
]
Srun = Annotated[
    Text,
    typer.Option("--srun", metavar="JOBID[/NODE]", help="Watch inside this Slurm job, by the srun of HOST."),
]
Timeout = Annotated[
    Text, typer.Option("--timeout", metavar="TIME", help="Give up after 90, 90s, 20m, 1h (default 20m).")
]
Restarts = Annotated[
    Switch, typer.Option("--restarts", help="Go on when the server ends.", show_default=False)
]
FailOn = Annotated[
    Text,
    typer.Option(
        "--fail-on",
        metavar="WORD[,WORD]",
        help="End with exit code 1 as soon as the load is WORD or worse: stalled, then hung and suspended "
        "alike, then a part of the server that died.",
    ),
]
Logs = Annotated[
    list[str],
    typer.Argument(metavar="LOG...", help="A log, also .gz; - for stdin; or all files of a multi-node load."),
]
EngineName = Annotated[
    Text,
    typer.Option(
        "--engine", metavar="NAME", help="The engine that wrote the log, where it is not recognised."
    ),
]
Profile = Annotated[
    Text,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="A named workload (default decode); see --list. What follows changes it.",
    ),
]
ListProfiles = Annotated[bool, typer.Option("--list", help="List the profiles and end.")]
Concurrency = Annotated[
    Text,
    typer.Option("--concurrency", metavar="N[,N...]", help="Requests in flight at a time; several: a sweep."),
]
Requests = Annotated[Text, typer.Option("--requests", metavar="N", help="Requests in all, of each level.")]
InputTokens = Annotated[Text, typer.Option("--input-tokens", metavar="N", help="Prompt tokens a request.")]
OutputTokens = Annotated[
    Text, typer.Option("--output-tokens", metavar="N", help="Generated tokens a request.")
]
Rate = Annotated[
    Text,
    typer.Option(
        "--rate", metavar="N[,N...]", help="Requests a second, sent whatever became of those before them."
    ),
]
Arrival = Annotated[
    Text, typer.Option("--arrival", metavar="KIND", help="With --rate: poisson (default) or constant.")
]
Duration = Annotated[
    Text, typer.Option("--duration", metavar="TIME", help="Start no request after 90, 90s or 5m.")
]
Warmup = Annotated[
    Text,
    typer.Option("--warmup", metavar="TIME", help="The longest warm-up, 0 for none; it ends when steady."),
]
Turns = Annotated[Text, typer.Option("--turns", metavar="N", help="Requests a conversation.")]
PrefixTokens = Annotated[
    Text, typer.Option("--prefix-tokens", metavar="N", help="Prompt tokens that all requests share.")
]
Data = Annotated[
    Text,
    typer.Option("--data", metavar="FILE", help="Prompts from a JSONL file (prompt, messages, ShareGPT)."),
]
Seed = Annotated[Text, typer.Option("--seed", metavar="N", help="Which words and arrivals are made.")]
TtftLimit = Annotated[
    Text, typer.Option("--ttft-limit-ms", metavar="MS", help="Goodput counts answers with at most this TTFT.")
]
TpotLimit = Annotated[
    Text, typer.Option("--tpot-limit-ms", metavar="MS", help="Goodput: at most this time per output token.")
]
E2eLimit = Annotated[
    Text, typer.Option("--e2e-limit-ms", metavar="MS", help="Goodput: at most this whole time of an answer.")
]
FlushCache = Annotated[
    Switch,
    typer.Option(
        "--flush-cache/--no-flush-cache", help="Empty the server's prefix cache first.", show_default=False
    ),
]
Anyway = Annotated[
    Switch, typer.Option("--anyway", help="Measure though others use the server.", show_default=False)
]
SelfTest = Annotated[
    bool,
    typer.Option("--self-test", help="Measure a server whose figures are known: what does HOST itself add?"),
]
Headless = Annotated[
    Switch, typer.Option("--headless", help="Print the run instead of drawing it.", show_default=False)
]
Speed = Annotated[
    Text, typer.Option("--speed", metavar="FACTOR", help="How many times as fast: 0.1 to 100 (default 1).")
]
Recording = Annotated[
    Text,
    typer.Argument(
        metavar="[FILE]",
        help="A recording: a file, a folder, or a name that recordings lists; without one the newest.",
        show_default=False,
    ),
]
ServerLog = Annotated[
    Text, typer.Option("--log", metavar="FILE", help="Play a bare server log by its own time stamps.")
]
NvidiaSmi = Annotated[
    Text,
    typer.Option(
        "--nvidia-smi", metavar="FILE", help="GPUs beside the log, as nvidia-smi --format=csv printed them."
    ),
]
Bundle = Annotated[
    Text, typer.Option("--bundle", metavar="OUT", help="The .tar.gz to write; an existing one is kept.")
]
Anonymise = Annotated[
    bool,
    typer.Option(
        "--anonymise", help="Replace hosts, users, paths and addresses, each by one name throughout."
    ),
]
Mask = Annotated[
    bool,
    typer.Option("--mask/--no-mask", help="Hide secrets (default), or leave everything as it was recorded."),
]
Scenario = Annotated[
    Text, typer.Option("--scenario", metavar="NAME", help="What happens in it (default ready); see --list.")
]
ListScenarios = Annotated[bool, typer.Option("--list", help="List the scenarios and end.")]


def choices_of(context: typer.Context) -> settings.Choices:
    """Return what a command line, the environment and the configuration choose. Raises UsageFault."""
    given = {str(name): value for name, value in context.params.items() if name in settings.NAMES}
    given["host"] = given.get("host") or None
    return settings.choose(given, os.environ, settings.config_file(os.environ))
