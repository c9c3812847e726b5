"""One record for each measured request, so that statistics can be done again later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.agent import wire

if TYPE_CHECKING:
    from tui.agent.load.flight import Flight
    from tui.agent.load.stream import Answer
    from tui.agent.worker import Channel

MOST = 20000
AT_ONCE = 500


class Records:
    """The records of a run, in the order of their ends; ``dropped`` counts those beyond MOST."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, tuple[object, ...]]] = []
        self.dropped = 0

    def add(self, flight: Flight, answer: Answer, output_tokens: int | None, fault: str) -> None:
        """Keep one; ``output_tokens`` None when they are not known."""
        if len(self._rows) >= MOST:
            self.dropped += 1
            return
        t0 = flight.began_s
        first_s = answer.stamps_s[0] if answer.stamps_s else None
        row = (
            _ms(t0, first_s),
            _ms(t0, answer.first_content_s),
            _ms(t0, answer.last_s),
            _ms(t0, flight.exchange.ended_s),
            output_tokens,
            answer.usage_input,
            len(answer.stamps_s),
            fault,
        )
        self._rows.append((t0, row))

    def messages(self, run: str) -> list[dict[str, object]]:
        """Return them as bench_records messages of at most AT_ONCE records each."""
        start_s = min((t0 for t0, _ in self._rows), default=0.0)
        rows = [[round(t0 - start_s, 6), *row] for t0, row in self._rows]
        return [
            wire.stamped(wire.BENCH_RECORDS, run=run, records=rows[at : at + AT_ONCE])
            for at in range(0, len(rows), AT_ONCE)
        ]

    def send(self, channel: Channel, run: str) -> None:
        """Tell all of them."""
        for message in self.messages(run):
            channel.send(message)


def _ms(from_s: float, to_s: float | None) -> float | None:
    return None if to_s is None else round((to_s - from_s) * 1e3, 3)
