"""The diagnosis: a worker of the agent that looks into processes because a person asked for it, and ends.

Stack dumps by py-spy, each process in turn, in rounds; then NCCL RAS, once, and again where it told of
something wrong. It says first what it will touch. A process that is no more what it was is left alone.
"""

from __future__ import annotations

import re
import time

from tui.agent import wire
from tui.agent.diagnose import library, ras, spy, tool
from tui.agent.processes import procfs

TYPE_CHECKING = False  # as in the agent's worker.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from tui.agent.worker import Channel

# Another diagnosis may be asked for soon after.
_LINGER_S = 30.0
_PIDS = 64
_LINES = 600
_LINE_LENGTH = 400
_WRONG = re.compile(r"\b(?:MISMATCH|INCOMPLETE|DEAD|ERROR|TIMEOUT|ABORT|INIT)\b")
_STATES = {"T": "stopped", "t": "held by a debugger", "D": "waiting in the kernel", "Z": "ended"}


def serve(channel: Channel) -> None:
    """Answer diagnose requests until none came for a while."""
    timeout_s: float | None = None
    while True:
        request = channel.receive(timeout_s)
        if request is None:
            return
        if request["kind"] == wire.DIAGNOSE:
            Diagnosis(request, channel.send, channel.rest).run()
            timeout_s = _LINGER_S


class Diagnosis:
    """One diagnosis. ``send`` takes finished messages, ``rest`` is told before every wait."""

    def __init__(
        self,
        request: dict[str, Any],
        send: Callable[[dict[str, object]], None],
        rest: Callable[[float | None], None] = lambda _: None,
    ) -> None:
        self._request = request
        self._send = send
        self._rest = rest
        self._pids: list[int] = [int(pid) for pid in request["pids"]][:_PIDS]
        self._ticks = {pid: _ticks(pid) for pid in self._pids}
        self._every_s = float(request.get("every_s", 10.0))
        self._rounds = max(1, int(request.get("rounds", 3)))
        self._hung: set[int] = set()
        self._dumps = 0
        self._answers = 0

    def run(self) -> None:
        """Look, and say at the end that nothing more comes, whatever happens."""
        how = "the diagnosis broke off"
        try:
            self._look()
            answers = _counted(self._answers, "answer")
            how = "%s, %s of NCCL RAS" % (_counted(self._dumps, "stack dump"), answers)
        finally:
            self._say("diagnosis", how, found=bool(self._dumps or self._answers), last=True)

    def _look(self) -> None:
        self._rest(None)  # folders of a dead mount may be asked for the tool
        path, why = tool.find(self._pids, self._request.get("tool"))
        port, refusal = self._port()
        self._rest(0.0)
        self._say("diagnosis", self._plan(path, port), found=path is not None or port is not None)
        if path is None:
            self._say("stacks", why, found=False)
        else:
            self._dump_all(path)
        if port is None:
            self._say("ras", "NCCL RAS is not asked: %s" % refusal, found=False)
        else:
            self._ask_ras(port)

    def _plan(self, path: str | None, port: int | None) -> str:
        dumps = ""
        if path is not None:
            pids = ", ".join(map(str, self._pids))
            dumps = "%d stack dumps, %g s apart, of %s by %s" % (self._rounds, self._every_s, pids, path)
        asks = "" if port is None else "NCCL RAS on port %d, at most twice" % port
        return "; then ".join(filter(None, (dumps, asks))) or "nothing can be looked into"

    # Stacks.

    def _dump_all(self, path: str) -> None:
        due_s = time.monotonic()
        for number in range(1, self._rounds + 1):
            self._sleep_until(due_s)
            due_s = time.monotonic() + self._every_s
            for pid in self._pids:
                self._dump(path, pid, number)

    def _dump(self, path: str, pid: int, number: int) -> None:
        stat = procfs.stat_of(pid)
        if stat is None or stat.state in "ZX" or stat.ticks != self._ticks[pid]:
            self._say("stacks", "the process has ended", found=False, pid=pid, round=number)
            return
        if pid in self._hung:
            sentence = "not dumped again: py-spy hung on it"
            self._say("stacks", sentence, found=False, pid=pid, round=number)
            return
        self._rest(2 * spy.LIMIT_S)
        began_s = time.monotonic()
        try:
            stacks, left_out = spy.stacks(path, pid)
        except spy.NoStack as no:
            self._hung.update([pid] if no.hung else [])
            self._say("stacks", str(no), found=False, pid=pid, round=number)
            return
        self._dumps += 1
        sentence = "%s read in %.2f s" % (_counted(len(stacks), "thread"), time.monotonic() - began_s)
        sentence += "" if not left_out else ", %d more left out" % left_out
        sentence += "" if stat.state not in _STATES else "; state %s (%s)" % (stat.state, _STATES[stat.state])
        self._say("stacks", sentence, found=True, pid=pid, round=number, stacks=stacks)

    # NCCL RAS.

    def _port(self) -> tuple[int | None, str]:
        """Return the port to ask, or None and why it is not asked."""
        port: int | None = self._request.get("ras_port")
        if port is None:
            return None, self._request.get("ras_refusal") or "nobody asked for it"
        if any(tool.other_namespace(pid, "net") for pid in self._pids):
            return None, "the server has a network of its own (a container)"
        version = self._request.get("nccl_version") or library.version(self._pids)
        known = library.numbers(version)
        if known is None:
            return None, "which NCCL it is cannot be told, and before 2.27.3 a question can crash the server"
        if known < library.SAFE:
            return None, "it is NCCL %s, and before 2.27.3 a question can crash the server" % version
        return port, ""

    def _ask_ras(self, port: int) -> None:
        if not any(ticks is not None and _ticks(pid) == ticks for pid, ticks in self._ticks.items()):
            sentence = "NCCL RAS is not asked: the processes are gone, and new ones may be in their init"
            self._say("ras", sentence, found=False)
            return
        for number in (1, 2):
            if number == 2:
                self._sleep_until(time.monotonic() + self._every_s)
            text = self._ask_once(port, number)
            if text is None or not _WRONG.search(text):
                return

    def _ask_once(self, port: int, number: int) -> str | None:
        try:
            answer = ras.ask(port, self._rest)
        except ras.NoAnswer as no:
            self._say("ras", "NCCL RAS: %s" % no, found=False, round=number)
            return None
        finally:
            self._rest(0.0)
        self._answers += 1
        lines = [spy.plain(line.expandtabs())[:_LINE_LENGTH] for line in answer.text.splitlines()[:_LINES]]
        sentence = "NCCL RAS answered on port %d" % port
        if answer.silent:
            sentence += "; %s before it got no answer" % _counted(answer.silent, "connection")
        self._say("ras", sentence, found=True, round=number, lines=lines)
        return answer.text

    def _sleep_until(self, due_s: float) -> None:
        left_s = due_s - time.monotonic()
        if left_s > 0:
            self._rest(left_s)
            time.sleep(left_s)
            self._rest(0.0)

    def _say(self, asked: str, sentence: str, **fields: object) -> None:
        self._send(wire.stamped(wire.EVIDENCE, asked=asked, sentence=sentence, **fields))


def _ticks(pid: int) -> int | None:
    """Return what tells a living process from another of the same number, None where there is none."""
    stat = procfs.stat_of(pid)
    return None if stat is None or stat.state in "ZX" else stat.ticks


def _counted(number: int, what: str) -> str:
    return "%d %s%s" % (number, what, "" if number == 1 else "s")
