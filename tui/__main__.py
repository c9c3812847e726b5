"""``python -m tui`` is ``tminus``."""

from tui.cli import main

main()
