"""What each role looks like in the current theme."""

from collections.abc import Mapping

from rich.style import Style


class Palette:
    """Rich styles by role; several roles separated by spaces are added from left to right."""

    def __init__(self, roles: Mapping[str, Style] | None = None) -> None:
        self._roles = dict(roles or {})

    def style(self, role: str) -> Style:
        """Return the style of a role; an unknown one is drawn like plain text."""
        known = self._roles.get(role)
        if known is None:
            names = role.split(" ") if " " in role else []
            known = Style.combine([self.style(name) for name in names]) if names else Style.null()
            self._roles[role] = known
        return known
