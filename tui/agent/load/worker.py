"""The benchmark worker: a closed-loop load generator beside the server, in a process of its own.

It is light until asked: asyncio and ssl are imported with the first request, after the fork.
"""

from __future__ import annotations

from tui.agent import wire

TYPE_CHECKING = False  # as in worker.py
if TYPE_CHECKING:
    from tui.agent.worker import Channel


LINGER_S = 60.0  # another run soon after finds the process warm; then its 15 MB go


def serve(channel: Channel) -> None:
    """Run the benchmark that is asked, and any asked within a minute after; each ends in one bench_result."""
    timeout_s: float | None = None
    while True:
        request = channel.receive(timeout_s)
        if request is None:
            return
        if request["kind"] == wire.BENCH:
            from tui.agent.load import run as load_run

            if request.get("died"):
                load_run.tell_death(channel, request)
            elif request.get("self_test"):
                from tui.agent.load import mock

                with mock.beside(request):
                    load_run.run(channel, request)
            else:
                load_run.run(channel, request)
            timeout_s = LINGER_S
