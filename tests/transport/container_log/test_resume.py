"""A log that is asked for again by time: nothing twice, nothing left out, and what is missing is known."""

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from tui.transport.container_log.resume import WINDOW_NS, Seen
from tui.transport.container_log.stamped import Entry

BEGAN_NS = 10**18


def entry(offset_ns: int, text: str = "x") -> Entry:
    """Return a line of so long after the start."""
    return Entry(BEGAN_NS + offset_ns, text.encode())


def taken(seen: Seen, entries: list[Entry]) -> list[Entry]:
    """Return what is new of the entries."""
    return [each for each in entries if seen.is_new(each)]


def again(log: list[Entry], since_ns: int, rounded_ns: int = 1) -> list[Entry]:
    """Return what a runtime prints that rounds the moment down."""
    return [each for each in log if each.stamp_ns >= since_ns // rounded_ns * rounded_ns]


def test_equal_lines_of_one_moment_are_counted() -> None:
    seen = Seen(BEGAN_NS)
    seen.begin()
    log = [entry(5, "a"), entry(5, "a"), entry(5, "b")]
    assert taken(seen, log[:2]) == log[:2]
    seen.begin()

    assert taken(seen, [*log, entry(5, "a")]) == [entry(5, "b"), entry(5, "a")]


def test_lines_of_before_the_start_are_left_out_until_the_first_of_it() -> None:
    seen = Seen(BEGAN_NS)
    seen.begin()

    assert taken(seen, [entry(-1), entry(0), entry(-1)]) == [entry(0), entry(-1)]


def test_a_clock_that_was_set_back_holds_no_line_back() -> None:
    seen = Seen(BEGAN_NS)
    seen.begin()
    log = [entry(10 * 10**9, "a"), entry(3 * 10**9, "b"), entry(4 * 10**9, "c")]

    assert taken(seen, log) == log
    seen.begin()
    assert seen.since_ns == BEGAN_NS + 4 * 10**9 - WINDOW_NS
    # Lines of the time that came twice are repeated: nothing tells them from new ones.
    new = entry(4 * 10**9, "d")
    assert taken(seen, [*again(log, seen.since_ns), new]) == [log[0], new]


def test_a_log_that_begins_after_what_is_known_misses_something() -> None:
    seen = Seen(BEGAN_NS)
    seen.begin()
    taken(seen, [entry(1)])
    assert not seen.misses()
    seen.begin()
    taken(seen, [entry(10**10)])

    assert seen.misses()
    assert not seen.misses()


def test_a_log_that_holds_the_last_line_misses_nothing() -> None:
    seen = Seen(BEGAN_NS)
    seen.begin()
    taken(seen, [entry(1, "a"), entry(2, "b")])
    seen.begin()
    taken(seen, [entry(2, "b"), entry(3, "c")])

    assert not seen.misses()


def test_more_lines_than_are_remembered_are_no_more_asked_for() -> None:
    seen = Seen(BEGAN_NS)
    seen.begin()
    log = [entry(number, str(number)) for number in range(150_000)]
    assert taken(seen, log) == log
    seen.begin()

    assert seen.since_ns == BEGAN_NS + 50_000
    assert taken(seen, again(log, seen.since_ns)) == []


@given(
    st.lists(
        st.tuples(st.sampled_from([0, 0, 0, 1, 10**6, 10**8, 10**9]), st.sampled_from("aab")), max_size=40
    ),
    st.lists(st.integers(0, 40), max_size=6),
    st.sampled_from([1, 1000, 10**9]),
)
def test_whatever_is_cut_comes_once(steps: list[tuple[int, str]], cuts: list[int], rounded_ns: int) -> None:
    stamps = accumulate(step for step, _ in steps)
    log = [entry(stamp, text) for stamp, (_, text) in zip(stamps, steps, strict=True)]
    seen = Seen(BEGAN_NS)
    told: list[Entry] = []
    for end in [*sorted(cuts), len(log)]:
        seen.begin()
        told += taken(seen, again(log[:end], seen.since_ns, rounded_ns))
        assert not seen.misses()

    assert told == log
