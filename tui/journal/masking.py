"""Hiding secrets in events once more: what was recorded live is masked, what was imported may not be."""

from tui.agent.mask import HIDDEN, mask_argv, mask_environment, mask_text
from tui.transport.clean import LineCleaner, clean


class Masking:
    """A Change that cleans every text and, unless told not to, hides the secrets in it.

    ``recorded`` counts the secrets that were hidden already, ``hidden`` those that are hidden now.
    """

    def __init__(self, *, hide: bool = True) -> None:
        self.hide = hide
        self.recorded = 0
        self.hidden = 0
        self._lines = LineCleaner()

    def text(self, field: str, value: str) -> str:
        """Return one text cleaned and masked."""
        cleaned = clean(value)
        return self._counted([cleaned], [mask_text(cleaned)])[0] if self.hide else cleaned

    def texts(self, field: str, values: list[str]) -> list[str]:
        """Return texts cleaned and masked; arguments by their flags."""
        if self.hide and field == "lines" and not any("\n" in value for value in values):
            return self._counted(values, self._lines.lines(values))
        cleaned = [clean(value) for value in values]
        if not self.hide:
            return cleaned
        masked = mask_argv(cleaned) if field == "argv" else [mask_text(value) for value in cleaned]
        return self._counted(cleaned, masked)

    def pairs(self, field: str, values: dict[str, str]) -> dict[str, str]:
        """Return variables cleaned and masked by their names."""
        cleaned = {clean(name): clean(value) for name, value in values.items()}
        if not self.hide:
            return cleaned
        masked = mask_environment(cleaned)
        self._counted(list(cleaned.values()), list(masked.values()))
        return masked

    def _counted(self, before: list[str], after: list[str]) -> list[str]:
        for old, new in zip(before, after, strict=True):
            if HIDDEN in new:
                kept = old.count(HIDDEN)
                self.recorded += kept
                # A secret that stood there masked in part counts as hidden now.
                self.hidden += max(new.count(HIDDEN) - kept, 1 if old != new else 0)
        return after
