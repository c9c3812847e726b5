"""The fingerprint of the server that is watched, and which start of it this is. Pure.

Every setting says where it was seen. What was looked for and could not be told is there as not known.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tui.engines.aliases import canonical
from tui.engines.given import given
from tui.provenance import Library, ProcessEnvironment, Provenance
from tui.runs.configuration import ARGUMENT, LIBRARY, digest
from tui.runs.entry import Fingerprint, Instance, Setting
from tui.runs.hardware import hardware, known
from tui.runs.variables import variables
from tui.watch.meaning import Meaning
from tui.watch.target import Server

_NCCL = re.compile(r"\b(?:nccl==|NCCL version )(\d+\.\d+\.\d+)")
UNTOLD = "of a version that its name does not tell"
_SNAPSHOT = re.compile(r"/snapshots/([0-9a-f]{7,64})(?:/|$)")
# Names of packages that are engines, and libraries that tell the version of one.
_PACKAGES = {"sglang": ("sglang",), "vllm": ("vllm",), "trtllm": ("tensorrt_llm",)}


def fingerprint_of(state: Meaning, provenance: Provenance | None) -> Fingerprint:
    """Return under what the server of the current load runs, as far as it is known now.

    ``provenance`` None: the host was not asked, or has not answered; then libraries, topology and what the
    workers' environments hold are not known. Of a URL alone, without a process, the digest is "".
    """
    server = state.shown
    if server is None:
        return Fingerprint(digest="", settings=_ordered(_of_url(state)))
    lines = _lines(state)
    found = variables(_environments(server, provenance), server.members, lines)
    whole = [*_software(state, server, provenance, lines), *_arguments(server), *_model(state, server)]
    whole += [*hardware(state, provenance), *found.settings]
    # Without an answer it is not known what processes there are besides.
    environment_known = "partly" if provenance is None and found.known == "whole" else found.known
    return Fingerprint(
        digest=digest(whole, environment_known),
        settings=_ordered(whole),
        environment_known=environment_known,
    )


def instance_of(state: Meaning) -> Instance:
    """Return which start of a server this is; without a process it is not known, and equals no other."""
    hello, server = state.hello, state.shown
    if hello is None or server is None:
        return Instance(host="" if hello is None else hello.host, pid=None, started_wall_s=None)
    return Instance(
        host=hello.host,
        pid=server.pid,
        started_wall_s=round(server.started_s + hello.wall_s - hello.mono_s, 3),
        boot_id=hello.boot_id,
        started_s=round(server.started_s, 2),
    )


def _ordered(settings: "Iterator[Setting] | list[Setting]") -> tuple[Setting, ...]:
    return tuple(sorted(settings, key=lambda setting: setting.name))


def _of_url(state: Meaning) -> Iterator[Setting]:
    """Give what a port alone tells, and what is not known of the server behind it."""
    engine = state.engine
    yield known("engine", engine.title if engine is not None else None, "server")
    yield known("model", state.model, "server")
    for name in ("engine version", "command", "nccl", "model revision", "model bytes", "gpus", "gpu name"):
        yield known(name, None, "")
    for name in ("driver", "power limit W", "kernel", "host", "cpus"):
        yield known(name, None, "")


def _lines(state: Meaning) -> list[str]:
    """Return the lines of NCCL in this start's log that are still there: of 20,000 lines these are few."""
    since_s = state.started_s or 0.0
    return [
        line.text
        for line in state.log.lines
        if ("NCCL " in line.text or "nccl==" in line.text) and line.at_s >= since_s
    ]


def _environments(server: Server, provenance: Provenance | None) -> list[ProcessEnvironment]:
    """Return what the host told when asked, else the main process's environment as it was first seen."""
    if provenance is not None and provenance.environments:
        return provenance.environments
    main = server.main
    return [
        ProcessEnvironment(
            pid=main.pid,
            started_s=main.started_s,
            role="main",
            title=main.title,
            state="unreadable" if main.environment is None else "read",
            variables=main.environment or {},
        )
    ]


def _software(
    state: Meaning, server: Server, provenance: Provenance | None, lines: list[str]
) -> Iterator[Setting]:
    yield Setting(name="engine", value=server.engine.title, source="process")
    libraries = [] if provenance is None else provenance.libraries
    own = _PACKAGES.get(server.engine.name, ())
    installed = {each.name: each for each in libraries}
    package = next((installed[name] for name in own if name in installed), None)
    version, source = state.engine_version, "log"
    if version is None and package is not None:
        version, source = package.version, "package"
    yield known("engine version", version, source)
    yield _nccl(lines, provenance)
    engines = {name for names in _PACKAGES.values() for name in names}
    for name in sorted(installed.keys() - engines - {"nccl", "cuda"}):
        paths = [each for each in libraries if each.name == name]
        yield Setting(name=LIBRARY + name, value=_versions(paths) or UNTOLD, source="loaded library")


def _nccl(lines: list[str], provenance: Provenance | None) -> Setting:
    """Say which NCCL is loaded: by the log's newest line, else by the library; both where they differ."""
    said = next((found[1] for line in reversed(lines) if (found := _NCCL.search(line))), None)
    loaded = [] if provenance is None else [each for each in provenance.libraries if each.name == "nccl"]
    version = _versions(loaded)
    if said is not None:
        other = f"; the library that is loaded: {version}" if version not in (None, said) else ""
        return Setting(name="nccl", value=said, source=f"log{other}")
    if provenance is not None and provenance.libraries and not loaded:
        return Setting(name="nccl", value=None, source="loaded libraries: it is none of them")
    return known("nccl", version, "loaded library")


def _versions(libraries: list[Library]) -> str | None:
    """Return the versions of a library of which there may be several, None where one is not known."""
    versions = {each.version for each in libraries}
    told = sorted(version for version in versions if version is not None)
    return " | ".join(told) if told and None not in versions else None


def _arguments(server: Server) -> Iterator[Setting]:
    argv = server.main.argv
    if argv is None:
        yield known("command", None, "")
        return
    told = given(server.engine, argv)
    yield Setting(name="command", value=told.command, source="arguments")
    models = {canonical(server.engine.name, flag) for flag in server.engine.flags.model}
    for flag, value in told.flags.items():
        if flag in models:  # it is a setting of its own
            continue
        yield Setting(name=ARGUMENT + flag, value=value, source="arguments")


def _model(state: Meaning, server: Server) -> Iterator[Setting]:
    """Give the model by what was loaded, not by the name that it is served under."""
    model = server.arguments.model
    yield known("model", model or state.model, "arguments" if model else "server")
    checkpoint = state.checkpoint
    size = checkpoint.weight_bytes if checkpoint is not None and checkpoint.model == model else None
    yield known("model bytes", None if size is None else str(size), "directory of the model")
    yield _revision(state, server)


def _revision(state: Meaning, server: Server) -> Setting:
    model = server.arguments.model or ""
    in_path = _SNAPSHOT.search(model)
    if in_path is not None:
        return Setting(name="model revision", value=in_path[1], source="arguments")
    told = state.provenance.revision if state.provenance is not None else None
    if told is not None:
        return Setting(name="model revision", value=told, source="hub cache")
    if PurePosixPath(model).is_absolute():
        return Setting(name="model revision", value=None, source="a folder of its own")
    return known("model revision", server.arguments.revision, "arguments")
