"""``tminus bench`` over a sweep, against a server of known pace: its levels, what is kept, and Ctrl-C."""

import asyncio
import json
import signal
from collections.abc import Callable
from pathlib import Path

from odd_server import Running
from tminus_command import Tminus

from tui.runs.ledger import Ledger

OddServer = Callable[..., Running]
SMALL = ("--requests", "4", "--input-tokens", "16", "--output-tokens", "8", "--warmup", "0")


def ledger(tminus: Tminus) -> Ledger:
    """Return the ledger of the command's own user."""
    return Ledger(tminus.folder / "tminus" / "runs.sqlite", write=False)


def test_a_sweep_runs_its_levels_in_order_and_each_is_kept(odd_server: OddServer, tminus: Tminus) -> None:
    done = tminus.run("bench", "--url", odd_server().url, *SMALL, "--concurrency", "1,2,4", "--json")

    assert done.code == 0
    assert [each["concurrency"] for each in done.objects] == [1, 2, 4]
    assert {each["completed"] for each in done.objects} == {4}
    assert len({each["series"] for each in done.objects}) == 1
    kept = ledger(tminus).runs()
    assert [each.id for each in kept] == [each["run"] for each in done.objects]
    assert len(ledger(tminus).run(kept[0].id).records) == 4


def test_people_get_a_line_a_level_in_80_columns(odd_server: OddServer, tminus: Tminus) -> None:
    done = tminus.run("bench", "--url", odd_server().url, *SMALL, "--concurrency", "1,2")

    assert done.code == 0
    assert done.out.startswith("2 of 2 levels\n")
    assert "1 stream: kept as run" in done.out
    assert max(map(len, done.out.splitlines())) <= 80


def test_nothing_is_kept_where_nothing_is_to_be_recorded(odd_server: OddServer, tminus: Tminus) -> None:
    done = tminus.run("bench", "--url", odd_server().url, *SMALL, "--no-record")

    assert done.code == 0
    assert "kept" not in done.out
    assert not (tminus.folder / "tminus" / "runs.sqlite").exists()


def test_a_run_without_a_success_is_1_and_says_what_failed(odd_server: OddServer, tminus: Tminus) -> None:
    done = tminus.run("bench", "--url", odd_server("cut").url, *SMALL, "--concurrency", "1,2", "--json")

    assert done.code == 1
    assert [each["completed"] for each in done.objects] == [0]


async def test_ctrl_c_in_a_sweep_keeps_the_levels_that_are_done(
    odd_server: OddServer, tminus: Tminus
) -> None:
    long = ("--requests", "40", "--output-tokens", "40", "--warmup", "0", "--concurrency", "40,1")
    process = tminus.start("bench", "--url", odd_server().url, *long)
    await asyncio.to_thread(tminus.until_said, process, "1 stream", "measuring")
    process.send_signal(signal.SIGINT)
    done = await asyncio.to_thread(tminus.end, process)

    assert done.code == 130
    assert "1 stream: cancelled: " in done.out
    outcomes = [each.result.outcome for each in ledger(tminus).runs()]
    assert outcomes[0] == "done"
    assert set(outcomes[1:]) <= {"cancelled"}


def test_a_data_set_is_what_is_sent(odd_server: OddServer, tminus: Tminus, tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text(json.dumps({"prompt": "one two three four five", "output_tokens": 3}) + "\n")

    done = tminus.run(
        "bench", "--url", odd_server().url, *SMALL, "--data", str(file), "--json", "--no-record"
    )

    assert done.code == 0
    assert str(done.last["data"]).startswith("set.jsonl ")
    assert done.last["output_tokens"] == 12


def test_the_list_needs_no_server(tminus: Tminus) -> None:
    done = tminus.run("bench", "--list", "--json")

    assert done.code == 0
    assert [each["name"] for each in done.objects] == ["decode", "smoke", "serve", "sweep"]


def test_a_wrong_profile_is_one_line_and_2(tminus: Tminus) -> None:
    (tminus.folder / "profiles.toml").write_text("[a]\nduration = 3\n")
    done = tminus.run("bench", "--list")

    assert done.code == 2
    assert done.err.endswith("[a] has no key 'duration'; did you mean duration_s?\n")
    assert done.err.count("\n") == 1


def test_the_self_test_ends_in_a_sentence_and_its_code(tminus: Tminus) -> None:
    done = tminus.run("bench", "--self-test", "--json")

    assert str(done.last["levels"]).count("'streams'") >= 1
    assert "figures taken on this machine can" in str(done.last["sentence"])
    assert done.code == (0 if done.last["trusted_streams"] == 64 else 1)
