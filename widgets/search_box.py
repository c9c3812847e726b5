"""The line in which the text to search for is typed."""

from textual.widgets import Input


class SearchBox(Input):
    """One line without a border; its cursor does not blink, so that an idle screen stays silent."""

    BINDING_GROUP_TITLE = "Search"

    def __init__(self, value: str, *, id: str | None = None) -> None:
        super().__init__(
            value, placeholder="text to find in the log, Enter finds, Esc leaves", id=id, compact=True
        )
        self.cursor_blink = False
