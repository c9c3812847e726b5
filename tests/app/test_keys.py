"""Every key has an id, a meaning, and a line in the help and in the table of README."""

from collections import Counter

from textual.binding import Binding, BindingType

from tui.app import TminusApp, key_table
from tui.screens import keys
from tui.screens.help import HelpPages, HelpScreen
from tui.screens.hosts import HostScreen, HostsScreen
from tui.screens.main import MainScreen
from tui.screens.profiles import ProfileScreen
from tui.screens.question import QuestionScreen
from tui.screens.replay import ReplayScreen
from tui.screens.why import WhyScreen
from widgets.glyphs import ASCII
from widgets.gpu_rows import GpuRows
from widgets.hosts_pane import HostsPane
from widgets.lines import text_of
from widgets.log_tail import LogTail
from widgets.pages import Pages
from widgets.profile_pane import ProfilePane

# Over a tape Space plays, where it holds the picture else.
REPLAY = [
    *(each for each in MainScreen.BINDINGS if isinstance(each, Binding) and each.id != "app.pause"),
    *ReplayScreen.BINDINGS,
]
SCOPES: list[list[BindingType]] = [
    [*TminusApp.BINDINGS, *MainScreen.BINDINGS, *LogTail.BINDINGS],
    [*TminusApp.BINDINGS, *MainScreen.BINDINGS, *GpuRows.BINDINGS],
    [*TminusApp.BINDINGS, *MainScreen.BINDINGS, *Pages.BINDINGS],
    [*TminusApp.BINDINGS, *MainScreen.BINDINGS, *HostScreen.BINDINGS, *LogTail.BINDINGS],
    [*TminusApp.BINDINGS, *MainScreen.BINDINGS, *HostScreen.BINDINGS, *GpuRows.BINDINGS],
    [*TminusApp.BINDINGS, *MainScreen.BINDINGS, *HostScreen.BINDINGS, *Pages.BINDINGS],
    [*HostsScreen.BINDINGS, *HostsPane.BINDINGS],
    [*TminusApp.BINDINGS, *REPLAY, *LogTail.BINDINGS],
    [*TminusApp.BINDINGS, *REPLAY, *GpuRows.BINDINGS],
    [*HelpScreen.BINDINGS, *Pages.BINDINGS],
    [*WhyScreen.BINDINGS, *Pages.BINDINGS],
    [*ProfileScreen.BINDINGS, *ProfilePane.BINDINGS],
    [*QuestionScreen.BINDINGS],
]


def bindings() -> list[Binding]:
    """Return every binding once."""
    found = [each for scope in SCOPES for each in scope if isinstance(each, Binding)]
    assert len(found) == sum(len(scope) for scope in SCOPES)
    return list({each.id or "": each for each in found}.values())


def test_every_binding_has_an_id_of_its_own_and_a_description() -> None:
    assert all(each.id and each.description for each in bindings())
    assert {each.id for each in bindings()} == {key.id for key in key_table()}
    assert max(Counter(key.id for key in key_table()).values()) == 1


def test_no_key_means_two_things_at_once() -> None:
    for scope in SCOPES:
        taken = Counter(key for each in scope if isinstance(each, Binding) for key in each.key.split(","))
        assert [key for key, count in taken.items() if count > 1] == []


def test_no_default_is_a_key_that_multiplexers_or_terminals_take() -> None:
    taken = {key for each in bindings() for key in each.key.split(",")}
    assert not taken & {"ctrl+a", "ctrl+b", "ctrl+s", "ctrl+i", "ctrl+j", "ctrl+m", "ctrl+h", "f10", "f11"}
    assert not any(key.startswith("alt+") for key in taken)


def test_the_help_holds_every_binding() -> None:
    text = "\n".join(text_of(line) for line in HelpPages(key_table()).body(84))
    for key in key_table():
        rows = [line.split() for line in text.splitlines() if line.endswith(" " + key.meaning)]
        assert any(set(key.keys) <= set(row) for row in rows), key


def test_the_help_is_ascii_where_the_glyphs_are() -> None:
    assert all(text_of(line).isascii() for line in HelpPages(key_table(), glyphs=ASCII).body(84))


def test_the_table_for_the_readme_holds_every_binding() -> None:
    table = keys.markdown(key_table())
    assert "| `?` `F1` | This help | app.help |" in table
    assert len(table.splitlines()) == len(key_table()) + 2


def test_keys_are_named_as_people_read_them() -> None:
    named = [
        keys.display(key) for key in ("question_mark", "ctrl+q", "shift+tab", "f1", "G", "pagedown", "slash")
    ]
    assert named == ["?", "Ctrl+q", "Shift+Tab", "F1", "G", "PgDn", "/"]


def test_the_footer_leads_with_quit_and_help() -> None:
    watched = [key for key in key_table() if key.group not in ("replay", "hosts")]
    assert keys.footer_pairs(watched)[:3] == [("q", "quit"), ("?", "help"), ("b", "bench")]
    assert ("Space", "play") in keys.footer_pairs(key_table())
