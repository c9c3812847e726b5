"""How the link to the host stands, on the client's clock."""

from dataclasses import dataclass
from typing import Literal

from tui.events import Link

LinkWord = Literal["none", "connecting", "up", "lost", "failed", "closed"]


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

    def take(self, event: Link) -> None:
        """Note a change of the link."""
        if event.state != self.state:
            self.since_s = event.client_s
        self.state = event.state
        self.sentence = event.sentence
        self.fault = event.fault
        self.retry_in_s = event.retry_in_s
        self.banner = event.banner or self.banner

    def heard(self, client_s: float) -> None:
        """Note that the host was heard."""
        self.heard_s = client_s

    @property
    def stale(self) -> bool:
        """Whether what is shown may be old: the link was up once and is not now."""
        return self.heard_s is not None and self.state in ("connecting", "lost", "failed")

    def stale_s(self, client_s: float) -> float | None:
        """Return the age of the last news of the host in seconds while the link is not up, else None."""
        if not self.stale or self.heard_s is None:
            return None
        return max(0.0, client_s - self.heard_s)
