"""Only the processes of followed servers are told, equal ones once; those of others are counted."""

import tarfile
from collections.abc import Sequence
from pathlib import Path

from awkward_recordings import Load, at, events, rank, server
from msgspec.structs import replace

from tui.commands import export
from tui.commands.export import Wanted
from tui.events import AnyEvent, Exit, Process, Processes
from tui.journal.header import Asked
from tui.journal.writer import open_journal
from tui.provenance import Library, ProcessEnvironment, Provenance
from tui.replay.evidence_processes import PROCESSES, ProcessBook
from tui.settings import Choices
from tui.watch.target import servers

LOAD = Load(host="gpu1")
MAIN, RANK = server(LOAD), rank(LOAD)
FOREIGN = replace(
    MAIN,
    pid=900,
    started_s=1000.0,
    user="neighbour",
    argv=["vllm", "serve", "their-model", "--port", "8111"],
    matched="vllm",
)


def workers(count: int) -> list[Process]:
    argv = ["python3", "compile_worker", "--parent=101"]
    return [
        replace(RANK, pid=200 + place, ppid=101, started_s=4999.8 + place / 100, title="python3", argv=argv)
        for place in range(count)
    ]


def exported(folder: Path, *more: AnyEvent, port: int = 30_000) -> dict[str, str]:
    """Export a load with these events behind it; return the texts of the bundle by name."""
    journal = open_journal(folder / "rec", "gpu1", "0.1.0", Asked(port=port))
    first = [event for event in events(LOAD) if not isinstance(event, Processes)]
    for event in (*first[:4], *more[:1], *first[4:], *more[1:]):
        journal.append(event)
    journal.close()
    export.run(Wanted(str(journal.path), str(folder / "one.tar.gz"), False, True), Choices())
    with tarfile.open(folder / "one.tar.gz") as tar:
        files = [(entry.name, tar.extractfile(entry)) for entry in tar if not entry.name.endswith(".gz")]
        return {name.partition("/")[2]: file.read().decode() for name, file in files if file is not None}


def listed(processes: Sequence[Process], t: float = 0.0) -> Processes:
    return Processes(**at(t), processes=list(processes))


def test_equal_processes_are_told_once_with_their_pids(tmp_path: Path) -> None:
    text = exported(tmp_path, listed([MAIN, RANK, *workers(86)]))["environment.txt"]
    assert text.count("compile_worker") == 1
    assert "86 processes like this: pids 200, 201, 202" in text
    assert [line for line in text.splitlines() if line.startswith("pid")] == [
        "pid 100  python3",
        "pid 101  sglang::scheduler_TP0",
        "pid 200  python3  and 85 like it",
    ]


def test_states_may_differ_among_equal_ones(tmp_path: Path) -> None:
    one, other = workers(2)
    text = exported(tmp_path, listed([MAIN, RANK, one, replace(other, state="R")]))["environment.txt"]
    assert "state R (1), S (1)" in text


def test_the_page_folds_them_with_the_server_itself_open(tmp_path: Path) -> None:
    page = exported(tmp_path, listed([MAIN, RANK, *workers(3)]))["report.html"]
    assert page.count("<summary>pid ") == 3
    assert "<details open><summary>pid 100  python3</summary>" in page
    assert "<details><summary>pid 200  python3  and 2 like it</summary>" in page


def test_another_server_is_counted_and_only_in_the_journal(tmp_path: Path) -> None:
    child = replace(RANK, pid=901, ppid=900, title="VLLM::Worker")
    files = exported(tmp_path, listed([MAIN, RANK, FOREIGN, child]))
    for name, text in files.items():
        assert "their-model" not in text, name
        assert "neighbour" not in text, name
    words = "2 processes of other servers on the host: only in the journal"
    assert words in files["environment.txt"]
    assert words in files["report.html"]
    contents = " ".join(files["CONTENTS.txt"].split())
    assert "The journal also holds 2 processes of other servers on that host" in contents


def test_alone_on_its_host_nothing_is_said_of_others(tmp_path: Path) -> None:
    files = exported(tmp_path, listed([MAIN, RANK]))
    assert "other servers" not in files["environment.txt"] + files["CONTENTS.txt"]


def test_those_of_every_load_are_kept(tmp_path: Path) -> None:
    again = replace(MAIN, pid=500, started_s=5040.0, argv=[*(MAIN.argv or []), "--second-start"])
    gone = Exit(**at(38.0), pid=100, main=True, title="python3", how="gone", code=1)
    text = exported(tmp_path, listed([MAIN, RANK]), gone, listed([again], 41.0))["environment.txt"]
    assert [line for line in text.splitlines() if line.startswith("pid")] == [
        "pid 500  python3",
        "pid 100  python3",
        "pid 101  sglang::scheduler_TP0",
    ]
    assert "--second-start" in text


def test_where_no_server_is_followed_none_is_told(tmp_path: Path) -> None:
    files = exported(tmp_path, listed([MAIN, RANK]), port=1)
    assert "No process of a followed server was recorded." in files["environment.txt"]
    assert "2 processes of other servers" in files["environment.txt"]


def test_a_pid_that_is_given_again_is_another_process() -> None:
    book = ProcessBook()
    first = listed([MAIN])
    book.take(first, servers(first)[0])
    book.take(listed([replace(FOREIGN, pid=MAIN.pid)]), None)
    found = book.list()
    assert (found.followed, found.others) == ((MAIN,), 1)


def test_a_process_that_could_be_read_once_stays_as_it_was() -> None:
    book = ProcessBook()
    for event in (listed([MAIN]), listed([replace(MAIN, argv=None, started_s=MAIN.started_s + 0.01)])):
        book.take(event, servers(event)[0] if servers(event) else None)
    assert book.list().followed == (MAIN,)


def test_a_flood_of_processes_is_bounded_and_counted() -> None:
    event = listed([MAIN, *(replace(RANK, pid=1000 + place, ppid=100) for place in range(PROCESSES + 20))])
    book = ProcessBook()
    for _ in range(2):
        book.take(event, servers(event)[0])
    found = book.list()
    assert (len(found.followed), found.left_out, found.others) == (PROCESSES, 21, 0)


def test_what_the_host_told_when_asked_stands_in_the_text_and_the_page(tmp_path: Path) -> None:
    environment = ProcessEnvironment(
        pid=MAIN.pid,
        started_s=MAIN.started_s,
        role="main",
        title="python3",
        state="read",
        variables={"NCCL_ALGO": "<Tree>", "HF_TOKEN": "hf_abcdefghijklmnopqrstuv"},
    )
    told = Provenance(
        **at(1.0),
        pid=MAIN.pid,
        started_s=MAIN.started_s,
        environments=[environment],
        libraries=[Library(name="nccl", version="2.27.5", path="/x/libnccl.so.2.27.5")],
    )
    files = exported(tmp_path, listed([MAIN, RANK]), told)
    text = files["environment.txt"]
    assert f"Under what pid {MAIN.pid} ran" in text
    assert "  environment NCCL_ALGO: <Tree>  (main process)" in text
    assert "  environment HF_TOKEN: ***  (main process)" in text
    assert "the library that is loaded: 2.27.5" in text
    assert "  model bytes: not known" in text
    assert "environment NCCL_ALGO: &lt;Tree&gt;" in files["report.html"]
    assert "hf_abc" not in "".join(files.values())
