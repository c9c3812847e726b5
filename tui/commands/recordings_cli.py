"""The command lines of what is kept: ``tminus replay``, ``recordings`` and ``export``."""

from collections.abc import Callable
from functools import partial

import typer

from tui.commands import flags

Run = Callable[[], int]


def replay(
    context: typer.Context,
    recording: flags.Recording = None,
    server_log: flags.ServerLog = None,
    nvidia_smi: flags.NvidiaSmi = None,
    speed: flags.Speed = None,
    headless: flags.Headless = None,
    json: flags.Json = None,
    theme: flags.Theme = None,
    glyphs: flags.Glyphs = None,
    mouse: flags.Mouse = None,
) -> Run:
    """Play a recording: the newest, a file, a name that ``recordings`` lists, or a bare server log."""
    chosen = flags.choices_of(context)
    from tui.commands import replay as command

    return partial(command.run, command.Wanted(recording, server_log, nvidia_smi), chosen)


def recordings(context: typer.Context, json: flags.Json = None) -> Run:
    """List the recordings that are kept: when, host, engine, model, outcome, length."""
    chosen = flags.choices_of(context)
    from tui.commands import recordings as command

    return partial(command.run, chosen)


def export(
    context: typer.Context,
    recording: flags.Recording = None,
    bundle: flags.Bundle = None,
    anonymise: flags.Anonymise = False,
    mask: flags.Mask = True,
) -> Run:
    """Make a bundle of a recording to attach to a bug report; its list says what is in it."""
    chosen = flags.choices_of(context)
    from tui.commands import export as command

    return partial(command.run, command.Wanted(recording, bundle, anonymise, mask), chosen)
