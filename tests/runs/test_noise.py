"""The noise floor of a workload, from starts of one configuration."""

import math
import random

import msgspec
import pytest
from run_entries import instance, result, run_entry, runs_of

from tui.runs.entry import Instance, RunEntry
from tui.runs.noise import ENOUGH, FIRST_GUESS, LEAST, learn, noise_of

RATE = "output tokens/s"


def repeats(noise: float, groups: int, size: int) -> list[list[RunEntry]]:
    rng = random.Random(5)
    return [
        runs_of(
            f"conf-{group:x}",
            [1000.0 * (group + 1) * math.exp(rng.gauss(0.0, noise)) for _ in range(size)],
            first=1 + group * size,
        )
        for group in range(groups)
    ]


def test_without_repeats_the_floor_is_the_first_guess() -> None:
    noise = learn(repeats(0.5, groups=6, size=1))

    assert noise.of(RATE) == FIRST_GUESS == 0.07
    assert noise.source(RATE) == "a first guess: no configuration was measured on two starts yet"


def test_the_guess_stands_until_enough_starts_were_repeated() -> None:
    few, enough = learn(repeats(0.03, groups=1, size=ENOUGH)), learn(repeats(0.03, groups=1, size=ENOUGH + 1))

    assert few.of(RATE) == FIRST_GUESS
    assert few.source(RATE) == "a first guess until 8 starts were repeated; so far 7"
    assert LEAST <= enough.of(RATE) < FIRST_GUESS
    assert enough.source(RATE).startswith("learned from 8 repeated starts")


def test_more_noise_than_the_guess_counts_at_once() -> None:
    noise = learn(repeats(0.3, groups=2, size=3))

    assert noise.of(RATE) > 0.1
    assert "above the first guess of 7%" in noise.source(RATE)


def test_what_configurations_differ_in_is_no_noise() -> None:
    assert learn(repeats(0.03, groups=8, size=2)).of(RATE) == pytest.approx(0.03, abs=0.02)


def test_a_floor_is_never_below_what_the_generator_may_be_wrong_by() -> None:
    noise = learn(repeats(0.0001, groups=3, size=4))

    assert noise.of(RATE) == LEAST == 0.02
    assert noise.source(RATE).endswith("and 2% at least")


def test_repeats_on_one_start_tell_nothing_of_the_noise_between_starts() -> None:
    speeds = (500.0, 1500.0, 1000.0)
    runs = [run_entry(result=result(f"aaaa000{place}", speed=speed)) for place, speed in enumerate(speeds)]
    unknown = Instance(host="gpu-box", pid=None, started_wall_s=None)

    assert learn([runs]).spreads == {}
    assert learn([[msgspec.structs.replace(run, instance=unknown) for run in runs]]).spreads == {}


def test_each_metric_has_a_floor_of_its_own() -> None:
    runs = runs_of("conf-a", [1000.0, 1001.0, 999.0])
    uneven = [
        msgspec.structs.replace(
            run, result=msgspec.structs.replace(run.result, steady_tokens_per_s=1000.0 * (1 + place))
        )
        for place, run in enumerate(runs)
    ]

    noise = learn([uneven])

    assert noise.of("steady tokens/s") > 0.3
    assert noise.of(RATE) == FIRST_GUESS


def test_disturbed_runs_are_no_noise() -> None:
    runs = runs_of("conf-a", [1000.0, 1001.0])
    cut = run_entry(result=result("aaaa0009", speed=10.0, outcome="cancelled"), instance=instance(9))

    assert learn([[*runs, cut]]).beyond_first[RATE] == 1


def test_it_is_learned_from_what_the_ledger_has_of_the_workload() -> None:
    class Ledger:
        def repeats(self, workload: str) -> list[list[RunEntry]]:
            return repeats(0.3, 2, 3) if workload == "w" else []

    assert noise_of(Ledger(), "w").of(RATE) > FIRST_GUESS
    assert noise_of(Ledger(), "another").of(RATE) == FIRST_GUESS
