"""The command line of ``tminus runs`` and what belongs to it."""

import os
from collections.abc import Callable
from functools import partial
from typing import Annotated

import typer

from tui import settings
from tui.commands import flags

Run = Callable[[], int]

app = typer.Typer(
    name="runs",
    help="List the benchmarks that are kept, newest last; show, delete, import or export some.",
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help"], "max_content_width": 100},
)

RunId = Annotated[
    str, typer.Argument(metavar="ID", help="The id of a run, or its beginning.", show_default=False)
]
RunOrNone = Annotated[
    flags.Text, typer.Argument(metavar="[ID]", help="The id of a run, or its beginning.", show_default=False)
]
ComparedA = Annotated[
    str, typer.Argument(metavar="A", help="A run's id, its beginning, or baseline.", show_default=False)
]
ComparedB = Annotated[
    str, typer.Argument(metavar="B", help="What is compared with A, named alike.", show_default=False)
]
Clear = Annotated[
    bool, typer.Option("--clear", help="Let the run (without ID: every run) be no baseline any more.")
]
# These narrow a list: the settings of the same name say what is watched, and have no say here.
OfHost = Annotated[flags.Text, typer.Option("--host", metavar="HOST", help="Only runs on this host.")]
OfModel = Annotated[flags.Text, typer.Option("--model", metavar="ID", help="Only runs of this model.")]
OfProfile = Annotated[
    flags.Text, typer.Option("--profile", metavar="NAME", help="Only runs of this profile.")
]
Since = Annotated[
    flags.Text, typer.Option("--since", metavar="TIME", help="Only runs since 90m, 3d ago, or a date.")
]
Newest = Annotated[flags.Text, typer.Option("--newest", metavar="N", help="So many at most.")]

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="Results of sglang bench_serving, vllm bench serve or AIPerf; or an export of tminus in JSON.",
    ),
]
ServerHost = Annotated[flags.Text, typer.Option("--host", metavar="NAME", help="Where the server ran.")]
Label = Annotated[
    flags.Text,
    typer.Option(
        "--label", metavar="TEXT", help="A name of the configuration: runs of one name are taken for repeats."
    ),
]
RunIds = Annotated[
    list[str], typer.Argument(metavar="ID...", help="Ids of runs, or their beginnings.", show_default=False)
]
Format = Annotated[
    flags.Text,
    typer.Option(
        "--format", metavar="FORMAT", help="csv, json, md or html (default: as --output ends, or md)."
    ),
]
Output = Annotated[flags.Text, typer.Option("--output", metavar="FILE", help="The file to write.")]
Requests = Annotated[bool, typer.Option("--requests", help="A row a request, in CSV.")]
OfRecording = Annotated[
    flags.Text,
    typer.Option("--recording", metavar="FILE", help="Show the GPUs of this recording, in HTML."),
]
Force = Annotated[bool, typer.Option("--force", help="Replace the file of --output.")]


@app.callback()
def runs(
    context: typer.Context,
    of_host: OfHost = None,
    of_model: OfModel = None,
    of_profile: OfProfile = None,
    since: Since = None,
    newest: Newest = None,
    json: flags.Json = None,
) -> Run | None:
    """List the benchmarks that are kept, newest last; show, delete, import or export some."""
    if context.invoked_subcommand is not None:
        return None
    from tui.commands import runs as command
    from tui.commands.start import ledger_path

    filters = command.Filters(of_host, of_model, of_profile, since, newest)
    return partial(command.run, filters, ledger_path(), json_wanted=_wants_json(json))


@app.command()
def show(run: RunId, json: flags.Json = None) -> Run:
    """Show everything of one run: its figures, and under what its server ran."""
    from tui.commands import runs as command
    from tui.commands.start import ledger_path

    return partial(command.show, run, ledger_path(), json_wanted=_wants_json(json))


@app.command()
def loads(newest: Newest = None, json: flags.Json = None) -> Run:
    """List the loads that were watched, ready or not, newest last."""
    from tui.commands import runs as command
    from tui.commands.start import ledger_path

    return partial(command.loads, newest, ledger_path(), json_wanted=_wants_json(json))


@app.command()
def delete(run: RunId) -> Run:
    """Delete one run, without asking; says which."""
    from tui.commands import runs as command
    from tui.commands.start import ledger_path

    return partial(command.delete, run, ledger_path())


@app.command(name="import")
def import_(files: Files, host: ServerHost = None, label: Label = None) -> Run:
    """Keep what other clients measured; all files or none. A run that is there already stays as it is."""
    from tui.commands import runs_import as command
    from tui.commands.start import ledger_path

    return partial(command.run, command.Import(files, host, label), ledger_path())


@app.command()
def export(
    run_ids: RunIds,
    form: Format = None,
    output: Output = None,
    requests: Requests = False,
    recording: OfRecording = None,
    force: Force = False,
) -> Run:
    """Write runs as CSV, JSON, Markdown or one page of HTML; two configurations are compared."""
    from tui.commands import runs_export as command
    from tui.commands.start import ledger_path

    wanted = command.Export(run_ids, form, output, requests, recording, force)
    return partial(command.run, wanted, ledger_path())


def baseline(run: RunOrNone = None, clear: Clear = False) -> Run:
    """Make a run the baseline of its workload and model; without ID list the baselines."""
    from tui.commands import baseline as command
    from tui.commands.start import ledger_path

    return partial(command.run, run, ledger_path(), clear=clear)


def compare(a: ComparedA, b: ComparedB, json: flags.Json = None) -> Run:
    """Compare two runs: what differs between their servers, then each metric of B over that of A."""
    from tui.commands import compare as command
    from tui.commands.start import ledger_path

    return partial(command.run, a, b, ledger_path(), json_wanted=_wants_json(json))


def _wants_json(given: flags.Switch) -> bool:
    return settings.choose({"json": given}, os.environ, settings.config_path(os.environ)).json
