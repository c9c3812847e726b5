"""How the link to the host stands, on the client's clock."""

from dataclasses import dataclass
from typing import Literal

from tui.events import Link

LinkWord = Literal["none", "connecting", "up", "lost", "failed", "closed"]

STALE_S = 3.0
"""An agent is heard each second at least; after so long without, what is shown is old."""


@dataclass(slots=True)
class LinkState:
    """The link and its last change. Times are on the client's monotonic clock: no host is heard meanwhile.

    ``heard_s`` is when the last event of the host itself arrived. ``fault`` as in the Link event.
    """

    state: LinkWord = "none"
    sentence: str = ""
    fault: str | None = None
    banner: str = ""
    retry_in_s: float | None = None
    since_s: float = 0.0
    heard_s: float | None = None
    _beats: bool = False
    _away: bool = False

    def take(self, event: Link) -> None:
        """Note a change of the link."""
        if event.state != self.state:
            self.since_s = event.client_s
        self.state = event.state
        self._beats = self._beats and event.state == "up"
        self._away = self._away or event.state in ("connecting", "lost", "failed")
        self.sentence = event.sentence
        self.fault = event.fault
        self.retry_in_s = event.retry_in_s
        self.banner = event.banner or self.banner

    def heard(self, client_s: float, *, beat: bool = False) -> float | None:
        """Note that the host was heard; ``beat``: it answered a ping, so from now on it owes one a second.

        Returns for how many seconds it was not, None unless that was a blind time.
        """
        before_s, self.heard_s = self.heard_s, client_s
        away, self._away = self._away, False
        silent_s = None if before_s is None else max(0.0, client_s - before_s)
        blind = silent_s is not None and (away or (self._beats and silent_s > STALE_S))
        self._beats = self._beats or beat
        return silent_s if blind else None

    def stale_s(self, client_s: float) -> float | None:
        """Return the age of the last news of the host in seconds where what is shown may be old, else None.

        That is so while the link is not up, and when it is said to be but nothing comes any more.
        """
        if self.heard_s is None:
            return None
        age_s = max(0.0, client_s - self.heard_s)
        down = self.state in ("connecting", "lost", "failed")
        return age_s if down or (self._beats and self.state == "up" and age_s > STALE_S) else None
