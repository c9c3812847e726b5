"""Hiding secrets in events once more: what was recorded live is masked, what was imported may not be."""

from tui.agent import wire
from tui.agent.mask import HIDDEN, mask_argv, mask_environment, mask_text
from tui.transport.clean import LineCleaner, clean

LONGEST = wire.LINE_LIMIT_BYTES
"""Characters of the longest text that is kept whole: hosts send no longer lines, files may hold some."""
# A secret at the cut is looked at this far beyond it, lest half of one is taken for none.
_BEYOND = 4096


class Masking:
    """A Change that cleans every text and, unless told not to, hides the secrets in it.

    A text of more than ``LONGEST`` characters is cut there and says how long it was.
    ``recorded`` counts the secrets that were hidden already, ``hidden`` those that are hidden now.
    """

    def __init__(self, *, hide: bool = True) -> None:
        self.hide = hide
        self.recorded = 0
        self.hidden = 0
        self._lines = LineCleaner()

    def text(self, field: str, value: str) -> str:
        """Return one text cleaned and masked."""
        cleaned = clean(_looked_at(value))
        after = self._counted([cleaned], [mask_text(cleaned)])[0] if self.hide else cleaned
        return _cut(value, after)

    def texts(self, field: str, values: list[str]) -> list[str]:
        """Return texts cleaned and masked; arguments by their flags."""
        after = self._texts(field, [_looked_at(value) for value in values])
        return [_cut(old, new) for old, new in zip(values, after, strict=True)]

    def _texts(self, field: str, values: list[str]) -> list[str]:
        if self.hide and field == "lines" and not any("\n" in value for value in values):
            return self._counted(values, self._lines.lines(values))
        cleaned = [clean(value) for value in values]
        if not self.hide:
            return cleaned
        masked = mask_argv(cleaned) if field == "argv" else [mask_text(value) for value in cleaned]
        return self._counted(cleaned, masked)

    def pairs(self, field: str, values: dict[str, str]) -> dict[str, str]:
        """Return variables cleaned and masked by their names."""
        cleaned = {clean(_looked_at(name)): clean(_looked_at(value)) for name, value in values.items()}
        masked = mask_environment(cleaned) if self.hide else cleaned
        if self.hide:
            self._counted(list(cleaned.values()), list(masked.values()))
        whole = {clean(_looked_at(name)): value for name, value in values.items()}
        return {name: _cut(whole[name], value) for name, value in masked.items()}

    def _counted(self, before: list[str], after: list[str]) -> list[str]:
        for old, new in zip(before, after, strict=True):
            if HIDDEN in new:
                kept = old.count(HIDDEN)
                self.recorded += kept
                # A secret that stood there masked in part counts as hidden now.
                self.hidden += max(new.count(HIDDEN) - kept, 1 if old != new else 0)
        return after


def _looked_at(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST + _BEYOND]


def _cut(before: str, after: str) -> str:
    if len(before) <= LONGEST:
        return after
    mark = f" (cut here: {len(before):,} characters)"
    # What was hidden moved the rest forward.
    moved = max(len(_looked_at(before)) - len(after), 0)
    return after[: max(LONGEST - len(mark) - moved, 0)] + mark
