"""WatchState -> the plain values that widgets draw, and the words for the commands. Pure.

Values are equal from one call to the next while nothing has changed: nothing in them runs on by itself but
the clock of a load under way, and figures are rounded to what is drawn.
"""

from tui.present.bench import profile_rows
from tui.present.beside import Beside
from tui.present.bug_report import report_text
from tui.present.header import host_text, named
from tui.present.screen import log_lines, present
from tui.present.summary import exit_summary, title
from tui.present.why import why_values
from tui.watch.words import age_text, clock_text

__all__ = [
    "Beside",
    "age_text",
    "clock_text",
    "exit_summary",
    "host_text",
    "log_lines",
    "named",
    "present",
    "profile_rows",
    "report_text",
    "title",
    "why_values",
]
