"""Jumping to the end of a log that is read far behind: what is left out is said, and nothing else is."""

from pathlib import Path

from log_world import append, rotated
from tail_reading import Reading

LINES = b"".join(b"line %06d\n" % number for number in range(20_000))


def behind(log: Path) -> Reading:
    """Return a reader that has read one piece of a long log."""
    append(log, LINES)
    reading = Reading(log)
    while not reading.text:
        reading.step()
    return reading


def test_the_rest_is_left_out_and_told_as_not_read(tmp_path: Path) -> None:
    reading = behind(tmp_path / "a.log")
    read = len(reading.text)
    reading.tail.skip()
    append(tmp_path / "a.log", b"after\n")
    assert reading.look() == b"after\n"
    (gap,) = reading.gaps
    assert (gap.why, gap.lost_bytes) == ("skipped", len(LINES) - read)
    assert gap.sentence.endswith("are not read: skipped to its end, as asked")


def test_a_line_under_way_is_read_whole(tmp_path: Path) -> None:
    reading = behind(tmp_path / "a.log")
    append(tmp_path / "a.log", b"half")
    reading.tail.skip()
    append(tmp_path / "a.log", b" and half\n")
    assert reading.look() == b"half and half\n"


def test_after_a_skip_a_lost_link_goes_on_behind_it(tmp_path: Path) -> None:
    reading = behind(tmp_path / "a.log")
    reading.tail.skip()
    again = reading.resumed()
    append(tmp_path / "a.log", b"after\n")
    assert again.look() == b"after\n"
    assert again.gaps == []


def test_files_that_rotation_put_between_are_left_out_too(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    reading = behind(log)
    read = len(reading.text)
    for generation in (".2", ".1"):
        log.rename(rotated(log, generation))
        append(log, LINES)
    reading.tail.skip()
    append(log, b"after\n")
    assert reading.look() == b"after\n"
    assert sum(gap.lost_bytes or 0 for gap in reading.gaps) == 3 * len(LINES) - read
    assert [gap.why for gap in reading.gaps] == ["skipped"]


def test_where_nothing_is_unread_nothing_is_skipped(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    reading = behind(log)
    reading.look()
    reading.tail.skip()
    append(log, b"after\n")
    assert reading.look() == b"after\n"
    assert reading.gaps == []


def test_without_a_log_there_is_nothing_to_skip(tmp_path: Path) -> None:
    reading = Reading(tmp_path / "none.log")
    reading.look()
    reading.tail.skip()
    assert reading.gaps == []
