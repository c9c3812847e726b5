"""What is made of nvidia-smi's output: odd cells, odd lines, refused fields, its ends and its silence."""

import pytest
from bare_host import gpu

from tui.events import AnyEvent, GpuDetails, GpuDriver, GpuFacts, Gpus, GpuSample, Notice
from tui.transport.plain_shell.clock import Moment
from tui.transport.plain_shell.gpus import FIRST_QUIET_S, FIRST_ROUND_S, RETRY_S, SmiGpus
from tui.transport.plain_shell.smi_words import FIRST_OUTPUT_S, SILENT_S


class Smi:
    """A reader of one nvidia-smi at work, and all that it told."""

    def __init__(self) -> None:
        self.gpus = SmiGpus(1.0)
        self.told: list[AnyEvent] = []
        self.now_s = 100.0
        self.fields: list[str] = []
        self.start()

    def start(self) -> None:
        command = self.gpus.command(self.now_s)
        assert command is not None
        self.fields = command.split(" ")[2].split(",")

    @property
    def at(self) -> Moment:
        return Moment(self.now_s, 1e9 + self.now_s, self.now_s)

    def round(self, *rows: "dict[str, str] | str", wait_s: float = 1.0) -> None:
        """Hear the rows of one reading, then nothing for a while."""
        for row in rows:
            line = row if isinstance(row, str) else ", ".join(row.get(f, "[N/A]") for f in self.fields)
            self.told += self.gpus.row(line, self.at)
        known = any(isinstance(event, Gpus) for event in self.told)
        self.now_s += wait_s if known or not rows else max(wait_s, FIRST_QUIET_S + 0.1)
        self.told += self.gpus.pause(self.at)

    def end(self, code: int | None) -> None:
        self.told += self.gpus.ended(code, self.at)

    def samples(self) -> dict[int, GpuSample]:
        """Return the newest sample of each GPU."""
        found = [event for event in self.told if isinstance(event, Gpus)]
        return {sample.index: sample for event in found for sample in event.gpus}

    def driver(self) -> GpuDriver:
        return [event for event in self.told if isinstance(event, GpuDriver)][-1]

    def notices(self) -> list[str]:
        return [event.sentence for event in self.told if isinstance(event, Notice)]


@pytest.fixture
def smi() -> Smi:
    return Smi()


def test_who_looks_once_has_temperature_and_clocks_with_the_first_samples(smi: Smi) -> None:
    smi.round(gpu(0))
    kinds = [type(event) for event in smi.told]
    assert kinds.index(GpuDetails) < kinds.index(Gpus)


# fmt: off
NO_NUMBERS = (
    "[N/A]", "N/A", "[Not Supported]", "Not Supported", "[Unknown Error]", "ERR!", "", "[GPU requires reset]",
    "[Insufficient Permissions]", "Requested functionality has been deprecated", "12,5", "-1", "nan", "1e3",
    "4294967295", "18446744073709551615", "9223372036854775794", "0x10", "12 34",
    "\x1b[31m7\x1b[0m x", "½", "١٢",
)
# fmt: on


@pytest.mark.parametrize("cell", NO_NUMBERS, ids=range(len(NO_NUMBERS)))
@pytest.mark.parametrize("field", ["memory.used", "utilization.gpu", "power.draw.instant"])
def test_a_cell_that_is_no_number_is_not_known_and_never_0(field: str, cell: str, smi: Smi) -> None:
    smi.round(gpu(0), gpu(1))
    smi.round(gpu(0, **{field.replace(".", "__"): cell}), gpu(1))
    figures = {
        "memory.used": smi.samples()[0].memory_used_mib,
        "utilization.gpu": smi.samples()[0].utilisation_pct,
        "power.draw.instant": smi.samples()[0].power_w,
    }

    # A comma makes another column: then the row is none, and what was read before stands.
    kept = {"memory.used": 1024.0, "utilization.gpu": 97.0, "power.draw.instant": 345.12}
    assert figures[field] == (kept[field] if "," in cell else None)
    assert smi.samples()[1].memory_used_mib == 1024.0


def test_a_text_in_place_of_a_number_is_told_once(smi: Smi) -> None:
    for _ in range(3):
        smi.round(gpu(0, power__draw__instant="[Unknown Error]"))
    told = [sentence for sentence in smi.notices() if "[Unknown Error]" in sentence]

    assert len(told) == 1
    assert "power.draw.instant of GPU 0: [Unknown Error]" in told[0]


@pytest.mark.parametrize("cell", ["[GPU is lost]", "GPU is lost"])
def test_a_lost_gpu_keeps_its_row(cell: str, smi: Smi) -> None:
    smi.round(gpu(0), gpu(1))
    smi.round(gpu(0, memory__used=cell, utilization__gpu=cell), gpu(1))

    assert (smi.samples()[0].state, smi.samples()[0].memory_used_mib) == ("lost", None)
    assert smi.samples()[1].state == "ok"


@pytest.mark.parametrize("name", ["0000:01:00.0", "00000000:01:00.0"])
def test_words_about_a_gpu_that_cannot_be_reached_are_of_its_row(name: str, smi: Smi) -> None:
    smi.round(gpu(0), gpu(1))
    words = f"Unable to determine the device handle for GPU {name}: GPU is lost.  Reboot the system"
    smi.round(words, gpu(1))

    assert smi.samples()[0].state == "lost"
    assert smi.samples()[1].state == "ok"
    assert [sentence for sentence in smi.notices() if "Unable to determine" in sentence]


def test_rows_belong_to_a_gpu_by_its_uuid_whatever_their_order_and_index(smi: Smi) -> None:
    first, second = gpu(0, memory__used="1"), gpu(1, memory__used="2")
    smi.round(first, second)
    smi.round(second | {"index": "0"}, first | {"index": "1"})

    assert {index: sample.memory_used_mib for index, sample in smi.samples().items()} == {0: 1.0, 1: 2.0}


def test_a_row_that_stays_away_is_of_a_lost_gpu_and_one_that_is_late_is_not(smi: Smi) -> None:
    smi.round(gpu(0), gpu(1))
    smi.round(gpu(0))
    assert smi.samples()[1].state == "ok"
    for _ in range(10):
        smi.round(gpu(0))

    assert (smi.samples()[1].state, smi.samples()[1].sentence) == ("lost", "nvidia-smi lists it no longer")


def test_carriage_returns_and_escapes_are_no_part_of_a_cell(smi: Smi) -> None:
    row = ", ".join(gpu(0).get(field, "[N/A]") for field in smi.fields)
    smi.round(f"\x1b[0m{row}\r", "", "\r")

    assert smi.samples()[0].memory_used_mib == 1024.0


def test_lines_of_another_form_are_no_gpu(smi: Smi) -> None:
    header = ", ".join(smi.fields)
    smi.round(header, "WARNING: infoROM is corrupted at gpu 0000:01:00.0", gpu(0), ",".join("x" * 21))

    assert list(smi.samples()) == [0]


def test_a_refused_field_is_left_out_or_asked_by_its_older_name(smi: Smi) -> None:
    for name in ("clocks_event_reasons.active", "memory.reserved"):
        smi.round(f'Field "{name}" is not a valid field to query.')
        smi.end(2)
        smi.start()
    smi.round(gpu(0))

    assert "clocks_throttle_reasons.active" in smi.fields
    assert "memory.reserved" not in smi.fields
    assert (smi.samples()[0].memory_used_mib, smi.samples()[0].memory_reserved_mib) == (1024.0, None)
    assert smi.driver().state == "ok"


def test_where_it_does_not_say_which_field_is_refused_it_is_asked_for_the_least(smi: Smi) -> None:
    smi.round("Option --query-gpu=... is not recognized")
    smi.end(2)
    smi.start()
    assert len(smi.fields) == 5
    smi.end(2)

    assert smi.driver().state == "failed"
    assert smi.gpus.command(smi.now_s) is None


@pytest.mark.parametrize(
    ("code", "state", "words"),
    [
        (2, "failed", "it takes none of the questions"),
        (6, "absent", "no GPU"),
        (9, "failed", "modprobe nvidia"),
        (12, "failed", "libnvidia-ml.so.1 is missing"),
        (14, "failed", "infoROM"),
        (15, "failed", "Xid"),
        (127, "absent", "No nvidia-smi was found"),
        (137, "failed", "signal 9"),
        (77, "failed", "exit status 77"),
        (None, "failed", "nvidia-smi has ended"),
    ],
)
def test_its_end_is_told_in_words(code: int | None, state: str, words: str, smi: Smi) -> None:
    smi.end(2)  # the first time it is asked again for less
    smi.start()
    smi.round("NVIDIA-SMI has failed because of \x1b[1msomething")
    smi.end(code)

    assert smi.driver().state == state
    assert words in smi.driver().sentence
    if code not in (127, None):
        assert "because of something" in smi.driver().sentence


def test_after_its_end_it_is_started_again_later_but_not_where_it_is_missing(smi: Smi) -> None:
    smi.end(15)
    assert smi.gpus.command(smi.now_s + RETRY_S - 1) is None
    assert smi.gpus.command(smi.now_s + RETRY_S) is not None
    smi.end(127)

    assert smi.gpus.command(smi.now_s + 1e6) is None


def test_its_silence_is_told_and_no_second_one_is_started(smi: Smi) -> None:
    smi.round(wait_s=FIRST_OUTPUT_S - 1)
    assert not smi.told
    smi.round(wait_s=2.0)
    assert (smi.driver().state, smi.driver().silent_s) == ("silent", FIRST_OUTPUT_S + 1)
    assert smi.driver().sentence.startswith("nvidia-smi has printed nothing for 46 s since it was started")
    assert smi.gpus.command(smi.now_s) is None
    for _ in range(20):
        smi.round(wait_s=0.1)
    assert len([event for event in smi.told if isinstance(event, GpuDriver)]) in (2, 3)
    smi.round(gpu(0))
    assert smi.driver().state == "ok"
    smi.round(wait_s=SILENT_S + 1)

    assert smi.driver().state == "silent"
    assert smi.driver().sentence.startswith("nvidia-smi has printed nothing for 18 s since its last line")


def test_the_first_line_may_take_30_s() -> None:
    assert FIRST_OUTPUT_S >= 30


def test_facts_are_told_once_and_again_when_they_change(smi: Smi) -> None:
    for _ in range(3):
        smi.round(gpu(0))
    smi.round(gpu(0, enforced__power__limit="350.00"))
    facts = [event for event in smi.told if isinstance(event, GpuFacts)]

    assert [fact.gpus[0].power_limit_w for fact in facts] == [700.0, 350.0]


def test_a_first_round_that_trickles_is_told_whole(smi: Smi) -> None:
    """Eight GPUs of a slow driver, half a second each: never only those that came so far."""
    for index in range(8):
        row = gpu(index)
        smi.told += smi.gpus.row(", ".join(row.get(f, "[N/A]") for f in smi.fields), smi.at)
        for _ in range(5):
            smi.now_s += 0.1
            smi.told += smi.gpus.pause(smi.at)
    assert smi.samples() == {}
    smi.round(gpu(0), wait_s=0.0)
    assert len(smi.samples()) == 8


def test_a_first_round_without_end_is_told_after_a_while(smi: Smi) -> None:
    begun_s = smi.now_s
    while smi.now_s - begun_s <= FIRST_ROUND_S:
        index = int(smi.now_s - begun_s)
        row = gpu(index)
        smi.told += smi.gpus.row(", ".join(row.get(f, "[N/A]") for f in smi.fields), smi.at)
        smi.now_s += 1.0
        smi.told += smi.gpus.pause(smi.at)
    assert len(smi.samples()) > 1
