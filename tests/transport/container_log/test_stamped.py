"""What ``logs --timestamps`` prints becomes lines with their moment, whatever the runtime did to them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.transport.container_log.stamped import DOCKER_PIECE_BYTES, LINE_LIMIT_BYTES, Entry, StampedLines

STAMP = b"2026-11-30T09:00:00.123456789Z "
AT_NS = 1796029200_123456789


def read(data: bytes, piece_bytes: int | None = DOCKER_PIECE_BYTES) -> list[Entry]:
    """Return the lines of one output."""
    return StampedLines(piece_bytes).feed(data)


@pytest.mark.parametrize(
    ("stamp", "at_ns"),
    [
        (b"2026-11-30T09:00:00.123456789Z ", AT_NS),
        (b"2026-11-30T10:00:00.123456789+01:00 ", AT_NS),
        (b"2026-11-30T03:30:00.123456789-05:30 ", AT_NS),
        (b"2026-11-30T09:00:00Z ", AT_NS - 123456789),
        (b"2026-11-30T09:00:00.1234Z ", AT_NS - 56789),
    ],
)
def test_a_stamp_is_read_and_taken_off(stamp: bytes, at_ns: int) -> None:
    assert read(stamp + b"Load weight begin.\n") == [Entry(at_ns, b"Load weight begin.\n")]


def test_an_empty_line_is_one() -> None:
    assert read(STAMP + b"\n" + STAMP[:-1] + b"\n") == [Entry(AT_NS, b"\n")] * 2


def test_a_stamp_that_the_server_prints_itself_stays() -> None:
    assert read(STAMP + STAMP + b"x\n", None) == [Entry(AT_NS, STAMP + b"x\n")]
    assert read(STAMP + b"at " + STAMP + b"x\n") == [Entry(AT_NS, b"at " + STAMP + b"x\n")]


def test_what_has_no_stamp_is_the_tools_own() -> None:
    lines = StampedLines(DOCKER_PIECE_BYTES)
    entries = lines.feed(
        b'Defaulted container "a"\n' + STAMP + b"one\n2026-13-99T09:00:00.1Z no day\nerror: "
    )
    lines.feed(b"cut")
    lines.finish()

    assert entries == [Entry(AT_NS, b"one\n")]
    assert lines.words == b'Defaulted container "a"\n2026-13-99T09:00:00.1Z no day\nerror: cut'


def test_a_long_line_is_put_together_again_where_docker_cut_it() -> None:
    line = bytes(range(32, 127)) * 500
    pieces = [line[at : at + DOCKER_PIECE_BYTES] for at in range(0, len(line), DOCKER_PIECE_BYTES)]

    assert len(pieces) == 3
    assert read(b"".join(STAMP + piece for piece in pieces) + b"\n") == [Entry(AT_NS, line + b"\n")]


def test_a_bar_that_came_in_pieces_is_one_line_and_the_newest_of_it_is_seen_before_its_end() -> None:
    later = STAMP.replace(b":00.", b":09.")
    lines = StampedLines(None)
    first = lines.feed(STAMP + b"\rLoading 10%" + later + b"\rLoading 20%")
    unfinished = lines.unfinished
    last = lines.feed(later + b"\rLoading 30%\n")

    assert first == []
    assert unfinished == b"\rLoading 10%\rLoading 20%"
    assert last == [Entry(AT_NS, b"\rLoading 10%\rLoading 20%\rLoading 30%\n")]


def test_a_line_without_end_does_not_grow() -> None:
    lines = StampedLines(DOCKER_PIECE_BYTES)
    entries = lines.feed(STAMP)
    for _ in range(3 * LINE_LIMIT_BYTES // 65536):
        entries += lines.feed(b"x" * 65536)
    entries += lines.feed(b"end\n" + STAMP + b"next\n")

    assert b"".join(entry.text for entry in entries) == b"x" * 3 * LINE_LIMIT_BYTES + b"end\nnext\n"
    assert {entry.stamp_ns for entry in entries} == {AT_NS}
    assert max(len(entry.text) for entry in entries) <= LINE_LIMIT_BYTES + 65536


@given(st.lists(st.binary(max_size=40).filter(lambda line: b"\n" not in line)), st.integers(1, 30))
def test_how_the_output_is_cut_into_reads_does_not_matter(texts: list[bytes], size: int) -> None:
    data = b"".join(STAMP + text + b"\n" for text in texts)
    lines = StampedLines(DOCKER_PIECE_BYTES)
    entries = [entry for at in range(0, len(data), size) for entry in lines.feed(data[at : at + size])]

    assert entries == [Entry(AT_NS, text + b"\n") for text in texts]


@given(st.binary(max_size=400), st.sampled_from([None, 8]))
def test_no_output_breaks_the_reader(data: bytes, piece_bytes: int | None) -> None:
    lines = StampedLines(piece_bytes)
    lines.feed(STAMP + data.replace(b"\n", STAMP))
    assert isinstance(lines.unfinished, bytes)
    lines.finish()
