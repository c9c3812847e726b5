"""What to ask of the source for a server: its process, its log, its endpoints."""

import re
from typing import Literal

from msgspec.structs import replace

from tui.requests import CheckpointPlan, FollowRequest, ProbePlan
from tui.watch.options import WatchOptions
from tui.watch.target import Server

_WILDCARDS = {"0.0.0.0": "127.0.0.1", "*": "127.0.0.1", "": "127.0.0.1", "::": "[::1]", "[::]": "[::1]"}
_DELETED = " (deleted)"
_HUB_VARIABLES = ("HF_HOME", "HF_HUB_CACHE", "TRANSFORMERS_CACHE")


def follow_request(
    server: Server | None, options: WatchOptions, *, finds_servers: bool = True
) -> FollowRequest | None:
    """Return what to ask of the source: process, log and endpoints of the server.

    Without a server a URL (or port) in the options is probed alone; None when there is nothing to follow.
    Where the source finds no servers, a log in the options is followed alone.
    """
    if server is None:
        url = options.url or (f"http://127.0.0.1:{options.port}" if options.port is not None else None)
        if url is None and options.log_path is not None and not finds_servers:
            return FollowRequest(pid=None, log_path=options.log_path)
        if url is None:
            return None
        return FollowRequest(pid=None, log_path=options.log_path, probe=_plan(None, url, options))
    return FollowRequest(
        pid=server.pid,
        started_s=server.started_s,
        log_path=log_path(server, options),
        log_to_runtime=_log_to_runtime(server),
        first_lines=list(server.engine.first_lines),
        probe=server_plan(server, options),
        checkpoint=checkpoint_plan(server),
    )


def checkpoint_plan(server: Server) -> CheckpointPlan | None:
    """Return whose weight files to add up, None where no model is named or none is loaded (dummy weights)."""
    arguments = server.arguments
    if arguments.model is None or arguments.load_format == "dummy":
        return None
    variables = server.main.environment or {}
    return CheckpointPlan(
        model=arguments.model,
        cwd=server.main.cwd,
        hub_cache=arguments.hub_cache,
        revision=arguments.revision,
        environment={name: value for name, value in variables.items() if name in _HUB_VARIABLES},
    )


def server_plan(server: Server, options: WatchOptions) -> ProbePlan | None:
    """Return how to probe a server, None for a node of a multi-node load that never answers requests."""
    if not server.arguments.serves_api and options.url is None:
        return None
    return _plan(server, options.url or server_url(server), options)


def server_url(server: Server) -> str:
    """Return the URL that a server's arguments name, as it is reached from its own host."""
    arguments = server.arguments
    host = arguments.host if arguments.host is not None else server.engine.default_host
    host = _WILDCARDS.get(host, host)
    if ":" in host and not host.startswith("["):
        host = f"[{host}]"
    return f"{'https' if arguments.tls else 'http'}://{host}:{server.port}{arguments.prefix}"


def expected_model(server: Server | None, options: WatchOptions) -> str | None:
    """Return the id that has to answer: the one asked for, else the served name of the arguments."""
    return options.model or (server.arguments.served_name if server is not None else None)


def _plan(server: Server | None, url: str, options: WatchOptions) -> ProbePlan:
    plan = ProbePlan(
        url=url,
        expected_model=expected_model(server, options),
        ready_on="token" if options.ready_on == "log" else options.ready_on,
        api_key=options.api_key,
        insecure=options.insecure,
        ca_file=options.ca_file,
    )
    if server is None:
        return plan
    return replace(
        plan,
        health_path=server.engine.health_path,
        models_path=server.engine.models_path,
        token_path=server.engine.token_path,
        health_costs_a_token=server.engine.health_costs_a_token,
        key_from_argv=server.main.api_key_in_argv and options.api_key is None,
    )


def log_path(server: Server, options: WatchOptions) -> str | None:
    """Return the file of the server's log, None when its output goes to none.

    A relative path in the options is relative to the server's working directory. A file that a container
    sees is reached through the process's own root.
    """
    if options.log_path is not None:
        inside = not options.log_path.startswith(("/", "~")) and server.main.cwd is not None
        return f"{server.main.cwd}/{options.log_path}" if inside else options.log_path
    for target in _streams(server):
        if target is not None and _kind(target) == "file":
            return target if server.main.container is None else f"/proc/{server.pid}/root{target}"
    return None


def _log_to_runtime(server: Server) -> bool:
    """Return whether a container's runtime may read what the server writes; it may where that is not known.

    A terminal is the container's own only where the server is its first process or started by that one.
    """
    kinds = {None if target is None else _kind(target) for target in _streams(server)}
    first = server.pid == 1 or server.main.ppid == 1
    return not kinds.isdisjoint({None, "pipe", "socket"}) or (first and "terminal" in kinds)


def log_sentence(server: Server, options: WatchOptions) -> str:
    """Return why the server's log cannot be followed and what to do, "" when it can."""
    if log_path(server, options) is not None:
        return ""
    target = next((target for target in _streams(server) if target is not None), None)
    remedy = "start it with > server.log 2>&1, or give --log PATH"
    if target is None:
        return (
            "where the server's output goes cannot be read: watch as root or as its user, or give --log PATH"
        )
    match _kind(target):
        case "terminal":
            return f"the server's output goes to a terminal ({target}): {remedy}"
        case "pipe" if server.main.container is not None:
            return (
                "the server's output goes to its container's log: watch inside with --docker, --podman or "
                "--kubectl, or give --log PATH"
            )
        case "pipe":
            return f"the server's output goes into a pipe: {remedy}"
        case "socket":
            return f"the server's output goes to a socket (the system's journal, perhaps): {remedy}"
        case "null":
            return f"the server's output is thrown away ({target}): {remedy}"
        case "deleted":
            return f"the server's log file was deleted ({target.removesuffix(_DELETED)}): restart it"
        case "file":
            return ""


Kind = Literal["file", "terminal", "pipe", "socket", "null", "deleted"]


def _kind(target: str) -> Kind:
    if target.endswith(_DELETED):
        return "deleted"
    if re.match(r"/dev/(?:pts/|tty|console)", target):
        return "terminal"
    if target.startswith("/dev/"):
        return "null"
    if target.startswith("socket:"):
        return "socket"
    return "file" if target.startswith("/") else "pipe"


def _streams(server: Server) -> tuple[str | None, str | None]:
    """Return where the main process's output goes, the stream of phase lines first."""
    main = server.main
    if server.engine.log_stream == "stderr":
        return (main.stderr, main.stdout)
    return (main.stdout, main.stderr)
