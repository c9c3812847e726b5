"""What a diagnosis would touch, and what speaks against one: decided before anything is asked of the host."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tui.engines.phase import Phase
from tui.requests import DiagnoseRequest
from tui.watch.diagnosis import name_of
from tui.watch.meaning import Meaning
from tui.watch.target import Server
from tui.watch.verdict.situation import Rank, Situation

PIDS = 16
"""So many processes are looked into at most: each may take 3 s three times over."""
WITHOUT_PYTHON = (
    "there is no python3 (3.8 or newer) on the host: a diagnosis needs tminus' agent, which runs in it"
)
RAS_PORT = 28028
_INIT = (Phase.LAUNCH, Phase.DISTRIBUTED)
_LOOPBACK = ("", "localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0", "::", "[::]")
_NCCL = re.compile(r"\b(?:nccl==|NCCL version )(\d+\.\d+\.\d+)")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to ask of the host; ``sentence`` says what that touches."""

    request: DiagnoseRequest
    sentence: str


def wanted(state: Meaning, now_s: float | None) -> Wanted | str:
    """Return what a diagnosis would ask at a time of the host, or in one sentence why there is none."""
    if state.without_agent:
        return "a URL alone is watched: name a HOST to look into the server's processes"
    if state.without_python:
        return WITHOUT_PYTHON
    server = state.target
    moment = None if now_s is None else state.circumstances(now_s)
    if server is None or moment is None or state.link.state != "up":
        return "no server is followed: there is nothing to look into"
    if state.judging.diagnosis.busy(moment.now_s):
        return "a diagnosis runs already"
    ranks = _quiet(state, moment)
    pids = [rank.pid for rank in ranks if rank.pid is not None][:PIDS]
    if not pids:
        return "no process of the server is known: there is nothing to look into"
    port, refusal = _ras(state, server, moment)
    version = _nccl_version(state) if port is not None else None
    request = DiagnoseRequest(pids=pids, ras_port=port, ras_refusal=refusal, nccl_version=version)
    return Wanted(request, _sentence(request, state))


def _quiet(state: Meaning, moment: Situation) -> tuple[Rank, ...]:
    """Return the ranks on which nothing moves, all where something moves on every one."""
    living = tuple(rank for rank in moment.ranks if not rank.gone)
    movement = state.judging.movement
    quiet = tuple(rank for rank in living if not movement.of(rank, moment.now_s, rank.phase).moved)
    return quiet or living


def _sentence(request: DiagnoseRequest, state: Meaning) -> str:
    listed = ", ".join(name_of(pid, state.judging.names) for pid in request.pids)
    dumps = f"{request.rounds} stack dumps, {request.every_s:g} s apart, of {listed}"
    dumps += " by py-spy where the host has it (they are not stopped)"
    if request.ras_port is None:
        return f"{dumps}; NCCL RAS is not asked: {request.ras_refusal}"
    return f"{dumps}; then NCCL RAS on port {request.ras_port}, at most twice"


def _ras(state: Meaning, server: Server, moment: Situation) -> tuple[int | None, str]:
    """Return the port of NCCL RAS, or None and why it is not asked: never while ranks find each other."""
    variables = server.main.environment or {}
    if len(moment.ranks) < 2 and moment.nodes < 2:
        return None, "one rank has nobody to communicate with"
    if variables.get("NCCL_RAS_ENABLE") == "0":
        return None, "NCCL_RAS_ENABLE=0 turns it off"
    if state.log_behind_bytes:
        return None, "the log is still read, and a question during the init can crash the server"
    phases = set(_phases(moment))
    if None in phases:
        return None, "where the load stands is not known, and a question during the init can crash the server"
    if phases.intersection(_INIT):
        return None, "the load is in its init as far as is known, and a question then can crash the server"
    return _port(variables.get("NCCL_RAS_ADDR"))


def _phases(moment: Situation) -> Iterator[Phase | None]:
    """Give where the load stands, and where each rank does of which its own lines tell."""
    yield Phase.READY if moment.ready else moment.phase
    if not moment.ready:
        yield from (rank.phase for rank in moment.ranks if rank.phase is not None)


def _port(address: str | None) -> tuple[int | None, str]:
    if address is None:
        return RAS_PORT, ""
    host, _, port = address.rpartition(":")
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        return None, f"NCCL_RAS_ADDR is {address}, which names no port"
    if host not in _LOOPBACK:
        return None, f"NCCL_RAS_ADDR is {address}: this host's own address alone is asked"
    return int(port), ""


def _nccl_version(state: Meaning) -> str | None:
    """Return the version that the log told last, None where it tells none."""
    for line in reversed(state.log.lines):
        if "nccl" in line.text or "NCCL" in line.text:
            found = _NCCL.search(line.text)
            if found is not None:
                return found[1]
    return None
