"""The recorded log that the demo prints, and the curve of its GPUs."""

import re

from tui.demo import curve
from tui.demo.script import PORT_LINE, READY_LINE, cues, filled, moment

SECONDS = 45.0


def test_the_log_is_in_order_and_ends_ready_after_about_45_s() -> None:
    script = cues()

    assert [cue.at_s for cue in script] == sorted(cue.at_s for cue in script)
    assert READY_LINE in script[-1].text
    assert abs(script[-1].at_s - SECONDS) < 3


def test_the_port_opens_some_seconds_before_the_server_is_ready() -> None:
    script = cues()

    assert 5 < moment(script, READY_LINE) - moment(script, PORT_LINE) < 10


def test_all_eight_ranks_load_their_weights_and_the_last_is_told_apart() -> None:
    ends = [cue for cue in cues() if "Load weight end" in cue.text]

    assert sorted(re.findall(r"TP\d", "".join(cue.text for cue in ends))) == [
        f"TP{rank}" for rank in range(8)
    ]
    assert "TP7" in ends[-1].text


def test_marks_are_filled_in() -> None:
    text = filled("[@NOW@ TP0] http://127.0.0.1:@PORT@ [@PID@]", 8000, 42)

    assert re.fullmatch(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d TP0\] http://127\.0\.0\.1:8000 \[42\]", text)


def test_no_mark_and_no_path_of_another_machine_is_left() -> None:
    whole = "".join(filled(cue.text, 8000, 42) for cue in cues())

    assert "@" not in whole
    assert not re.search(r"/(?:home|root|tmp|work|opt|usr)/", whole)


def test_the_curve_gives_eight_gpus_that_fill_up_and_work_when_asked() -> None:
    recorded = curve.Curve()
    first, last, busy = (
        recorded.samples(at_s, busy=busy).gpus for at_s, busy in ((0.0, False), (60.0, False), (60.0, True))
    )

    assert len(first) == len(last) == len(busy) == curve.GPUS
    assert all(sample.memory_used_mib == 0 for sample in first)
    assert all((sample.memory_used_mib or 0) > 130_000 for sample in last)
    assert all((sample.utilisation_pct or 0) > 90 for sample in busy)
    assert all((sample.power_w or 0) < curve.POWER_LIMIT_W for sample in busy)


def test_the_curve_of_the_load_follows_the_log() -> None:
    recorded = curve.Curve()
    script = cues()
    weights_s, pool_s = moment(script, "Load weight begin"), moment(script, "Memory pool end")

    before, after = (recorded.samples(at_s, busy=False).gpus[0] for at_s in (weights_s - 2, pool_s + 1))

    assert (before.memory_used_mib or 0) < 5_000
    assert (after.memory_used_mib or 0) > 100_000


def test_facts_are_marked_as_simulated() -> None:
    assert all("SIMULATED" in (gpu.name or "") for gpu in curve.facts().gpus)
    assert "SIMULATED" in curve.driver().sentence
