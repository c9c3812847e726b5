"""All files of one import as runs, or the one sentence why not: nothing of it is taken then."""

from collections.abc import Sequence
from pathlib import Path

from tui.runs.entry import RunEntry
from tui.runs.exporting import exchange
from tui.runs.importing import aiperf, aiperf_records, sglang, vllm
from tui.runs.importing.entry import Wanted, entry_of
from tui.runs.importing.reading import Found, read

_CLIENTS = (sglang, vllm)


def entries(paths: Sequence[Path], wanted: Wanted) -> list[RunEntry]:
    """Return the runs of files, in their order; the same run is there once. Raises ImportFault.

    AIPerf's records belong to the summary beside them, or to the only one that is given.
    """
    found = [(path, read(path)) for path in paths]
    records = {path: objects for path, objects in found if _are_records(objects)}
    summaries = [path for path, objects in found if any(aiperf.recognises(each.fields) for each in objects)]
    owners = {_owner(objects, summaries): objects for objects in records.values()}
    made: dict[str, RunEntry] = {}
    for path, objects in found:
        if path not in records:
            for one in objects:
                for entry in _entries_of(one, wanted, owners.get(path, ())):
                    made.setdefault(entry.id, entry)
    return list(made.values())


def _are_records(objects: Sequence[Found]) -> bool:
    return all(aiperf_records.recognises(each.fields) for each in objects)


def _owner(records: Sequence[Found], summaries: Sequence[Path]) -> Path:
    beside = [path for path in summaries if path.parent == records[0].path.parent]
    owners = summaries if len(summaries) == 1 else beside
    if len(owners) != 1:
        records[0].refuse("these are records of AIPerf; give the profile_export_aiperf.json of their run too")
    return owners[0]


def _entries_of(found: Found, wanted: Wanted, records: Sequence[Found]) -> list[RunEntry]:
    if exchange.recognises(found.fields):
        return exchange.runs_of(found)
    if aiperf.recognises(found.fields):
        return [entry_of(found, aiperf.outside(found, wanted, records), wanted)]
    client = next((each for each in _CLIENTS if each.recognises(found.fields)), None)
    if client is None:
        found.refuse(
            "this is no result that is known: sglang bench_serving, vllm bench serve, AIPerf "
            "(profile_export_aiperf.json) or an export of tminus"
        )
    return [entry_of(found, client.outside(found, wanted), wanted)]
