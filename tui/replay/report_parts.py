"""What the page of a report is put together from: sections and tables of somebody else's texts."""

from collections.abc import Iterable, Iterator
from html import escape

_NUMBER = ' class="number"'


def section(title: str, *parts: str) -> Iterator[str]:
    """Yield a section under its title; ``parts`` are markup already."""
    yield f"<section><h2>{escape(title)}</h2>"
    yield from parts
    yield "</section>"


def table(heads: Iterable[str], rows: Iterable[Iterable[str]], numbers: frozenset[int] = frozenset()) -> str:
    """Return a table of plain texts; ``numbers`` are the columns that are set to the right."""

    def row(tag: str, cells: Iterable[str]) -> str:
        marked = (
            f"<{tag}{_NUMBER if place in numbers else ''}>{escape(cell)}</{tag}>"
            for place, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    body = "".join(row("td", cells) for cells in rows)
    return f'<div class="scroll"><table><thead>{row("th", heads)}</thead><tbody>{body}</tbody></table></div>'
