"""One row of the tables, and how its sentence is filled."""

from dataclasses import dataclass

from tui.transport.clean import clean

# Longer values (a server's banner, a proxy's error text) are cut, so that a sentence stays one.
_VALUE_LIMIT = 800


@dataclass(frozen=True, slots=True)
class Row:
    """One sentence of the transport, with named places.

    ``kind``: the class of a LinkFault, the driver's state (``failed``, ``absent``, ``silent``) or what the
    sentence is about (``log``, ``gpus``, ``notice``). ``retry``: it may pass by itself, so that trying again
    may help without a person. ``pattern``: what the last words of the programs named in ``tools`` look like,
    where those choose the row.
    """

    kind: str
    retry: bool
    text: str
    tools: str = ""
    pattern: str = ""

    def filled(self, values: dict[str, object]) -> str:
        """Return the sentence, each value cleaned to one short line.

        ``it_said`` stands within brackets, and is left out with them where it is empty.
        """
        fitted = {name: _fitted(str(value)) for name, value in values.items()}
        if fitted.get("it_said"):
            fitted["it_said"] = f" (it said: {fitted['it_said']})"
        return self.text.format(**fitted)


def _fitted(value: str) -> str:
    line = clean(value).strip()
    return line if len(line) <= _VALUE_LIMIT else line[: _VALUE_LIMIT - 1] + "…"
