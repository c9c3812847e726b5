"""What a host tells of its server, and what runs are compared by, is masked and anonymised like processes."""

import pytest
from awkward_recordings import at

from tui.benchmark import BenchComparison, BenchRecord, BenchRecords, Counter, Difference
from tui.events import Hello
from tui.journal.anonymise import Anonymiser
from tui.journal.masking import Masking
from tui.journal.rewrite import rewritten
from tui.provenance import Library, ProcessEnvironment, Provenance

KEY = "hf_abcdefghijklmnopqrstuv"
HELLO = Hello(
    **at(0.0), protocol=1, host="box17", user="alice", uid=1, pid=1, boot_id="b", python="3", kernel="6",
    cpu_count=1, memory_total_mib=None,
)  # fmt: skip


def provenance(**variables: str) -> Provenance:
    environment = ProcessEnvironment(
        pid=1, started_s=0.0, role="main", title="sglang::scheduler", state="read", variables=variables
    )
    return Provenance(
        **at(0.0),
        pid=1,
        started_s=0.0,
        environments=[environment],
        libraries=[Library(name="nccl", version="2.27.5", path="/home/alice/acme/libnccl.so.2")],
        topology=[["X", "NV18"], ["NV18", "X"]],
        revision="0123456789abcdef",
        kernel="6.8.0",
        sentence="not read within 4 s: GPUs",
    )


def comparison(name: str, a: str | None, b: str | None) -> BenchComparison:
    return BenchComparison(
        **at(0.0),
        run="aabbccdd",
        against="11223344",
        against_wall_s=0.0,
        word="cannot tell",
        sentence="on box17",
        differences=(Difference(name=name, a=a, b=b),),
        blockers=("measured on box17", "2 instances"),
    )


def sides(event: BenchComparison) -> tuple[str | None, str | None]:
    return event.differences[0].a, event.differences[0].b


def anonymised(event: BenchComparison) -> BenchComparison:
    anonymiser = Anonymiser()
    for each in (HELLO, event):
        anonymiser.learn(each)
    return anonymiser.anonymised(event)


def test_secrets_in_variables_that_were_told_are_hidden_once_more() -> None:
    told = rewritten(provenance(HF_TOKEN=KEY, NCCL_ALGO="Tree", HF_ENDPOINT=f"http://x:{KEY}@h"), Masking())
    assert told.environments[0].variables["NCCL_ALGO"] == "Tree"
    assert told.environments[0].variables["HF_TOKEN"] == "***"
    assert KEY not in repr(told)


def test_names_in_what_was_told_are_replaced_and_facts_stay() -> None:
    event = provenance(HF_HOME="/data/acme", MASTER_ADDR="box17", LD_LIBRARY_PATH="/home/alice/acme:/usr/lib")
    anonymiser = Anonymiser()
    for each in (HELLO, event):
        anonymiser.learn(each)
    told = anonymiser.anonymised(event)
    text = repr(told)
    assert not any(name in text for name in ("alice", "acme", "box17"))
    assert told.environments[0].variables["LD_LIBRARY_PATH"].endswith(":/usr/lib")
    assert told.libraries[0].path.endswith("/libnccl.so.2")
    assert (told.topology, told.revision, told.kernel) == (event.topology, event.revision, event.kernel)
    assert told.environments[0].title == "sglang::scheduler"


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("environment HF_TOKEN", KEY, "***"),
        ("environment MY_PASSWORD", "x", "***"),
        ("environment NCCL_ALGO", "Tree", "Tree"),
        ("argument --api-key", "abc", "***"),
        ("argument --tp", "2", "2"),
        ("argument --x", KEY, "***"),
        ("nccl", "2.27.5", "2.27.5"),
        ("engine", KEY, "***"),
    ],
)
def test_both_sides_of_a_difference_are_masked_by_its_name(name: str, value: str, expected: str) -> None:
    assert sides(rewritten(comparison(name, value, None), Masking())) == (expected, None)
    assert sides(rewritten(comparison(name, None, value), Masking())) == (None, expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("host", "box17"),
        ("host", "vm"),
        ("model", "/home/alice/zed-7b"),
        ("argument --served-model-name", "acme-corp/zed-7b"),
        ("argument --dist-init-addr", "node-a7.acme.com:5000"),
        ("environment HF_HOME", "/data/acme-corp"),
    ],
)
def test_names_on_both_sides_of_a_difference_are_replaced(name: str, value: str) -> None:
    a, b = sides(anonymised(comparison(name, value, value)))
    assert a == b
    assert a is not None
    assert not any(word in a for word in ("box17", "vm", "alice", "zed", "acme", "node-a7"))


def test_a_difference_keeps_its_facts_and_its_sentences_lose_their_names() -> None:
    told = anonymised(comparison("environment NCCL_ALGO", "Tree", "Ring"))
    assert sides(told) == ("Tree", "Ring")
    assert (told.run, told.against) == ("aabbccdd", "11223344")
    assert "box17" not in told.sentence
    assert told.blockers[0].startswith("measured on host-")
    assert told.blockers[1] == "2 instances"


def test_the_secrets_in_a_tuple_of_parts_are_hidden_too() -> None:
    assert rewritten(comparison("x", KEY, None), Masking()).blockers == ("measured on box17", "2 instances")
    counter = Counter(name=KEY, before=1.0, after=2.0)
    assert isinstance(rewritten(counter, Masking()), Counter)
    assert KEY not in rewritten(counter, Masking()).name


def test_records_of_a_run_come_out_as_they_went_in() -> None:
    record = BenchRecord(0.0, 1.0, None, 2.0, 3.0, 4, 5, 6, "timeout")
    event = BenchRecords(**at(0.0), run="aabbccdd", records=[record])
    anonymiser = Anonymiser()
    for each in (HELLO, event):
        anonymiser.learn(each)
    assert anonymiser.anonymised(rewritten(event, Masking())) == event
