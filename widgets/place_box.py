"""The line in which the place to go to is typed."""

from widgets.search_box import SearchBox


class PlaceBox(SearchBox):
    """As the search box, for a time or a word."""

    BINDING_GROUP_TITLE = "Go to"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__("", id=id)
        self.placeholder = "12:30, +30, ready, fault, verdict, capture ...; Enter goes there, Esc leaves"
