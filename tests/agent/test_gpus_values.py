"""What the GPU reader makes of single answers of the driver."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.agent.gpus import driver_words
from tui.agent.gpus.places import places
from tui.agent.gpus.row import memory_mib, number, percent, scaled, text
from tui.agent.gpus.users import Allowance, merged, trusted
from tui.agent.gpus.worker import next_due

MIB = 1024 * 1024


def process(pid: int, mib: int | None) -> SimpleNamespace:
    return SimpleNamespace(pid=pid, usedGpuMemory=None if mib is None else mib * MIB)


@pytest.mark.parametrize("blank", [None, -1, 0xFFFFFFFF, 2**64 - 1, 9223372036854775794, 2147483634, "12"])
def test_what_means_not_available_is_none_and_never_zero(blank: object) -> None:
    assert number(blank) is None
    assert scaled(blank, 1000, 1) is None
    assert percent(blank) is None


def test_readings_keep_their_value_and_zero_stays_zero() -> None:
    assert number(0) == 0
    assert scaled(84137, 1000, 1) == 84.1
    assert percent(100) == 100.0
    assert percent(101) is None
    assert text("NVIDIA H200") == "NVIDIA H200"
    assert text("") is None


def test_memory_of_version_2_tells_reserved_apart_and_version_1_does_not() -> None:
    new = SimpleNamespace(total=143771 * MIB, used=4 * MIB, reserved=615 * MIB)
    old = SimpleNamespace(total=143771 * MIB, used=619 * MIB)
    assert memory_mib(new) == (4.0, 615.0, 143771.0)
    assert memory_mib(old) == (619.0, None, 143771.0)


def test_a_total_of_zero_is_no_memory_figure_at_all() -> None:
    assert memory_mib(SimpleNamespace(total=0, used=0, reserved=0)) == (None, None, None)
    assert memory_mib(None) == (None, None, None)


def test_the_schedule_does_not_drift_and_skips_what_was_missed() -> None:
    assert next_due(10.0, 10.02, 1.0) == 11.0
    assert next_due(10.0, 11.0, 1.0) == 12.0
    assert next_due(10.0, 17.3, 1.0) == 18.0
    assert next_due(10.0, 9.9, 1.0) == 11.0


@given(
    st.floats(0, 1e6),
    st.floats(0, 1e4),
    st.sampled_from([0.05, 0.2, 1.0, 5.0]),
)
def test_the_next_tick_is_in_the_future_and_within_one_interval(
    due: float, late: float, interval: float
) -> None:
    following = next_due(due, due + late, interval)
    assert -1e-6 <= following - (due + late) <= interval * 1.001 + 1e-6


def test_a_gpu_keeps_its_row_by_uuid_when_the_driver_numbers_anew() -> None:
    assert places(["a", "b", "c"], ["c", "a", "b"]) == [1, 2, 0]


def test_a_gpu_that_is_gone_leaves_its_row_and_the_others_theirs() -> None:
    assert places(["a", "b", "c"], ["a", "c"]) == [0, None, 1]


def test_a_gpu_that_cannot_be_asked_goes_to_the_row_of_the_one_that_is_missing() -> None:
    assert places(["a", "b", "c"], ["a", None, "c"]) == [0, 1, 2]
    assert places(["a", "b", "c"], ["b", "c", None]) == [2, 0, 1]


def test_a_new_gpu_gets_a_row_of_its_own_after_the_others() -> None:
    assert places(["a", "b"], ["x", "a"]) == [1, None, 0]
    assert places([], ["a", None]) == [0, 1]


def test_a_row_that_was_never_known_takes_the_gpu_that_has_come_back() -> None:
    assert places(["a", None, "c"], ["a", "b", "c"]) == [0, 1, 2]


@given(st.permutations(["a", "b", "c", "d", None]), st.permutations(["a", "b", None, "e", "f"]))
def test_no_gpu_is_forgotten_or_shown_twice(rows: list[str | None], found: list[str | None]) -> None:
    seats = places(rows, found)
    assert sorted(seat for seat in seats if seat is not None) == list(range(len(found)))
    assert all(seats[row] == found.index(uuid) for row, uuid in enumerate(rows) if uuid and uuid in found)


def test_a_process_in_both_lists_is_one_with_the_larger_figure() -> None:
    held = merged([process(7, 300), process(8, None)], [process(7, 500), process(8, 20), process(9, None)])
    assert held == {7: 500.0, 8: 20.0, 9: None}


def test_a_list_with_an_absurd_pid_is_not_believed() -> None:
    assert merged([process(7, 300), process(2**31, 1)], []) == {}
    assert merged([process(0, 300)], []) == {}


@pytest.mark.parametrize(
    ("version", "good"),
    [
        ("535.42", True),
        ("535.43.02", False),
        ("535.98", False),
        ("535.104.05", True),
        ("580.159.04", True),
        ("470.1", True),
        (None, True),
        ("weird", True),
    ],
)
def test_drivers_with_another_layout_of_process_lists_are_known(version: str | None, good: bool) -> None:
    assert trusted(version) is good


def test_an_allowance_gives_at_once_then_at_its_rate() -> None:
    allowance = Allowance(per_s=0.5, saved=4)
    assert allowance.left(0)
    allowance.spend(4)
    assert not allowance.left(0)
    assert allowance.left(1)
    allowance.spend(4)
    assert not allowance.left(8)
    assert allowance.left(8.5)


def test_an_allowance_saves_no_more_than_its_limit() -> None:
    allowance = Allowance(per_s=1, saved=4)
    assert allowance.left(0)
    assert allowance.left(1000)
    allowance.spend(4)
    assert not allowance.left(1000)


@pytest.mark.parametrize(
    ("code", "state", "words"),
    [
        (12, "absent", ["driver", "docker run --gpus"]),
        (9, "failed", ["not loaded", "modprobe nvidia"]),
        (18, "failed", ["different versions", "Reboot"]),
        (4, "failed", ["refuses this user", "/dev/nvidiactl"]),
        (999, "failed", ["unknown error", "container", "restart"]),
        (23, "failed", ["insufficient resources (23)", "nvidia-smi"]),
        (4711, "failed", ["error (4711)", "nvidia-smi"]),
    ],
)
def test_each_failure_of_the_driver_says_what_why_and_what_to_do(
    code: int, state: str, words: list[str]
) -> None:
    told, sentence = driver_words.of_driver(code)
    assert told == state
    assert all(word in sentence for word in words)
    assert len(sentence) < 220


def test_a_library_that_does_not_load_is_told_with_the_loaders_words() -> None:
    assert driver_words.of_driver(12, "wrong ELF class")[0] == "failed"
    assert "wrong ELF class" in driver_words.of_driver(12, "wrong ELF class")[1]
