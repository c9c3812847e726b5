"""The table that ``nvidia-smi --query-gpu=... --format=csv`` prints."""

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tui.events import GpuDetails, GpuDriver, GpuFacts, Gpus
from tui.journal.nvidia_smi import SmiEvent, SmiTable
from tui.journal.reader import RecordingFault

HEAD = "timestamp, index, memory.used [MiB], utilization.gpu [%], power.draw [W]"
DAY_S = 739_949 * 86_400
"""The beginning of 29 November 2026 in seconds since the year 1."""


def table(*lines: str) -> SmiTable:
    return SmiTable("runs/gpus.csv", partial(iter, list(lines)))


def stamp(second: float) -> str:
    return f"2026/11/29 00:00:{second:06.3f}"


def events(*lines: str) -> list[SmiEvent]:
    return list(table(*lines).events())


def samples(*lines: str) -> list[Gpus]:
    return [event for event in events(*lines) if isinstance(event, Gpus)]


def test_rows_are_readings_with_their_units_taken_off() -> None:
    found = samples(HEAD, f"{stamp(6.123)}, 0, 1024 MiB, 97 %, 345.12 W")

    assert found[0].mono_s == pytest.approx(DAY_S + 6.123)
    gpu = found[0].gpus[0]
    assert (gpu.index, gpu.state) == (0, "ok")
    assert (gpu.memory_used_mib, gpu.utilisation_pct, gpu.power_w) == (1024.0, 97.0, 345.12)
    assert (gpu.memory_reserved_mib, gpu.memory_total_mib, gpu.memory_utilisation_pct) == (None, None, None)


def test_columns_may_stand_in_any_order_and_without_units() -> None:
    found = samples(
        "power.draw [W], memory.reserved [MiB], index, memory.used [MiB], timestamp, pstate",
        f"345.12, 615, 3, 1024, {stamp(6)}, P0",
    )

    gpu = found[0].gpus[0]
    assert (gpu.index, gpu.memory_used_mib, gpu.memory_reserved_mib, gpu.power_w) == (
        3,
        1024.0,
        615.0,
        345.12,
    )


def test_rows_of_one_round_are_one_reading() -> None:
    rows = [f"{stamp(t + gpu / 100)}, {gpu}, {gpu} MiB, 0 %, 1 W" for t in (1, 2, 3) for gpu in range(4)]
    found = samples(HEAD, *rows)

    assert [[gpu.index for gpu in each.gpus] for each in found] == [[0, 1, 2, 3]] * 3


@pytest.mark.parametrize("gpus", [1, 2, 8])
@pytest.mark.parametrize("rounds", [1, 2, 50])
def test_without_a_name_gpus_are_told_by_their_place_in_the_round(gpus: int, rounds: int) -> None:
    rows = [f"{stamp(t + gpu * 0.004)}, {gpu * 10} MiB" for t in range(rounds) for gpu in range(gpus)]
    found = samples("timestamp, memory.used [MiB]", *rows)

    assert [[gpu.index for gpu in each.gpus] for each in found] == [list(range(gpus))] * rounds
    assert found[-1].gpus[-1].memory_used_mib == (gpus - 1) * 10


def test_a_bus_address_or_uuid_tells_gpus_apart_when_one_is_missing() -> None:
    found = samples(
        "timestamp, pci.bus_id, memory.used [MiB]",
        f"{stamp(1)}, 00000000:01:00.0, 1 MiB",
        f"{stamp(1)}, 00000000:02:00.0, 2 MiB",
        f"{stamp(2)}, 00000000:02:00.0, 3 MiB",
    )

    assert [(gpu.index, gpu.memory_used_mib) for gpu in found[1].gpus] == [(1, 3.0)]


def test_facts_come_once_and_the_driver_with_its_version() -> None:
    head = "timestamp, index, name, uuid, memory.total [MiB], driver_version, memory.used [MiB]"
    row = "0, NVIDIA H200, GPU-1, 143771 MiB, 580.95.05, 5 MiB"
    found = events(head, f"{stamp(1)}, {row}", f"{stamp(2)}, {row}")
    facts = [event for event in found if isinstance(event, GpuFacts)]

    assert [type(event) for event in found] == [GpuDriver, GpuFacts, Gpus, Gpus]
    assert isinstance(found[0], GpuDriver)
    assert found[0].version == "580.95.05"
    assert (facts[0].gpus[0].name, facts[0].gpus[0].memory_total_mib) == ("NVIDIA H200", 143771.0)


def test_details_come_where_their_columns_are() -> None:
    found = events(
        "timestamp, index, temperature.gpu, clocks.current.sm [MHz], clocks_throttle_reasons.active",
        f"{stamp(1)}, 0, 41, 1980 MHz, 0x0000000000000004",
    )
    details = [event for event in found if isinstance(event, GpuDetails)]

    detail = details[0].gpus[0]
    assert (detail.temperature_c, detail.sm_clock_mhz, detail.event_reasons) == (41.0, 1980.0, 4)
    assert (detail.ecc_uncorrected, detail.pcie_generation) == (None, None)


@pytest.mark.parametrize("text", ["[N/A]", "N/A", "[Not Supported]", "ERR!", "[Unknown Error]", ""])
def test_a_figure_that_cannot_be_read_is_not_known(text: str) -> None:
    gpu = samples(HEAD, f"{stamp(1)}, 0, 10 MiB, {text}, {text}")[0].gpus[0]

    assert (gpu.state, gpu.utilisation_pct, gpu.power_w, gpu.memory_used_mib) == ("ok", None, None, 10.0)


def test_a_lost_gpu_keeps_its_row() -> None:
    gpu = samples(HEAD, f"{stamp(1)}, 2, [GPU is lost], [GPU is lost], [GPU is lost]")[0].gpus[0]

    assert (gpu.index, gpu.state, gpu.memory_used_mib) == (2, "lost", None)
    assert gpu.sentence == "nvidia-smi says GPU is lost"


def test_a_gpu_of_which_nothing_can_be_read_is_an_error() -> None:
    gpu = samples(HEAD, f"{stamp(1)}, 2, [Unknown Error], ERR!, ERR!")[0].gpus[0]

    assert (gpu.state, gpu.sentence) == ("error", "nvidia-smi says Unknown Error")


def test_a_cut_last_line_is_no_trouble() -> None:
    found = table(HEAD, f"{stamp(1)}, 0, 1 MiB, 0 %, 1 W", "2026/11/29 00:0")

    assert found.skipped == 0
    assert len(list(found.events())) == 2


def test_lines_between_that_are_no_rows_are_left_out_and_counted() -> None:
    row = f"{stamp(1)}, 0, 1 MiB, 0 %, 1 W"
    found = table(HEAD, row, "Unable to determine the device handle for GPU1", row, HEAD, row)

    assert found.skipped == 1
    assert sum(isinstance(event, Gpus) for event in found.events()) == 3


def test_time_does_not_go_back() -> None:
    rows = [f"{stamp(t)}, 0, 1 MiB, 0 %, 1 W" for t in (5, 3, 6)]

    assert [each.mono_s - DAY_S for each in samples(HEAD, *rows)] == [5.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("index, memory.used [MiB]", "0, 5 MiB"), "with timestamp among the columns"),
        ((f"{stamp(1)}, 0, 5 MiB",), "without noheader"),
        (("a page of text", "about nothing"), "is no table of nvidia-smi"),
        ((), "is no table of nvidia-smi"),
        ((HEAD,), "holds no row"),
        ((HEAD, "2026/11/"), "holds no row"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(RecordingFault, match=said) as fault:
        table(*lines)
    assert str(fault.value).startswith("runs/gpus.csv ")
    assert "\n" not in str(fault.value)


CELLS = st.one_of(
    st.text(max_size=12),
    st.sampled_from(
        [
            stamp(1),
            "9999/99/99 99:99:99",
            "index",
            "timestamp",
            "-5",
            "0x1",
            "1e9",
            "[N/A]",
            "99999999999999999",
        ]
    ),
)


@given(st.lists(st.lists(CELLS, max_size=6).map(", ".join), max_size=20))
@settings(max_examples=100, deadline=None)
def test_any_text_is_read_or_refused(lines: list[str]) -> None:
    try:
        found = table(*lines)
    except RecordingFault:
        return
    times = [event.mono_s for event in found.events()]
    assert times == sorted(times)
