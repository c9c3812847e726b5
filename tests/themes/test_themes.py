"""The colour themes: complete, readable, and refused with a line for each fault."""

import pytest
from rich.color import Color
from rich.style import Style

from tui import theme
from tui.theme import ThemeFile

COLOURED = [each for each in theme.packaged() if not each.ansi]
# Bars, history and track are no text: 3 to 1 is enough for what must be seen, the track need not be.
GRAPHICS = {"bar", "history"}
BACKGROUNDS = ("background", "surface", "panel")


def luminance(colour: Color) -> float:
    """Return the relative luminance of WCAG 2."""
    parts = [part / 255 for part in colour.get_truecolor()]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Color, other: Color) -> float:
    """Return the contrast ratio of WCAG 2."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def colours_of(each: ThemeFile, role: str, behind: str) -> tuple[Color, Color]:
    """Return text colour and background of a role drawn over one of the theme's backgrounds."""
    style = Style.parse(each.roles[role])
    foreground = style.color or Style.parse(each.roles["text"]).color or Color.default()
    return foreground, style.bgcolor or Color.parse(each.colours[behind])


def test_the_measure_itself_is_right() -> None:
    assert contrast(Color.parse("#ffffff"), Color.parse("#000000")) == pytest.approx(21.0)
    assert contrast(Color.parse("#777777"), Color.parse("#ffffff")) == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("each", COLOURED, ids=lambda each: each.name)
@pytest.mark.parametrize("role", [role for role in theme.ROLES if role != "track"])
def test_text_can_be_read_on_every_background(each: ThemeFile, role: str) -> None:
    least = 3.0 if role in GRAPHICS else 4.5
    for behind in BACKGROUNDS:
        assert contrast(*colours_of(each, role, behind)) >= least, (role, behind)


@pytest.mark.parametrize("each", COLOURED, ids=lambda each: each.name)
def test_every_state_can_be_read_under_the_cursor_too(each: ThemeFile) -> None:
    behind = Style.parse(each.roles["cursor"]).bgcolor
    assert behind is not None
    for role in ("text", "muted", "waiting", "active", "good", "warning", "bad"):
        assert contrast(colours_of(each, role, "background")[0], behind) >= 4.5, role


@pytest.mark.parametrize("each", COLOURED, ids=lambda each: each.name)
def test_the_framework_is_given_readable_colours(each: ThemeFile) -> None:
    for name in ("foreground", "primary", "accent", "success", "warning", "error"):
        for behind in BACKGROUNDS:
            assert contrast(Color.parse(each.colours[name]), Color.parse(each.colours[behind])) >= 4.5


@pytest.mark.parametrize("each", [each for each in theme.packaged() if each.ansi], ids=lambda each: each.name)
def test_the_plain_themes_use_nothing_but_the_terminals_own_colours(each: ThemeFile) -> None:
    for text in each.roles.values():
        style = Style.parse(text)
        assert all(colour is None or colour.number is not None for colour in (style.color, style.bgcolor))
    assert all(colour.startswith("ansi_") for colour in each.colours.values())


def test_there_is_a_dark_a_light_and_a_colour_blind_one_and_the_dark_one_comes_first() -> None:
    assert theme.names()[0] == "tminus-dark"
    assert {"tminus-light", "tminus-colour-blind", "tminus-ansi-dark", "tminus-ansi-light"} < set(
        theme.names()
    )


def test_good_bad_and_warning_differ_in_blue_for_the_colour_blind() -> None:
    each = next(each for each in theme.packaged() if each.name == "tminus-colour-blind")
    blues = {
        role: colours_of(each, role, "background")[0].get_truecolor()[2]
        for role in ("good", "warning", "bad")
    }
    assert blues["good"] - max(blues["warning"], blues["bad"]) > 150


def test_each_fault_of_a_theme_is_a_line_with_file_and_key() -> None:
    text = """
    name = "mine"
    dark = "yes"
    glow = 1
    [colours]
    background = "#12345"
    [roles]
    text = "bold nonsense"
    glitter = "red"
    """
    with pytest.raises(theme.ThemeError) as caught:
        theme.parse("mine.toml", text)
    failures = caught.value.failures
    assert "mine.toml: dark: true or false is needed" in failures
    assert "mine.toml: glow: no such key" in failures
    assert "mine.toml: colours.background: '#12345' is no colour (#rrggbb or ansi_NAME)" in failures
    assert "mine.toml: colours.panel: missing" in failures
    assert any(line.startswith("mine.toml: roles.text: 'bold nonsense' is no style") for line in failures)
    assert "mine.toml: roles.glitter: no such key" in failures


def test_what_is_no_toml_says_where() -> None:
    with pytest.raises(theme.ThemeError, match=r"mine\.toml: .*line 1"):
        theme.parse("mine.toml", "name = x")
