"""Run the screen over values that are made up: the program that the tests start in a real terminal.

    python watch_fake_load.py [--gpus N] [--theme NAME] [--glyphs NAME] [--no-mouse]
                              [--still] [--log-rate N] [--fail-after S] [--own-terminal] [--nohup]

With ``--still`` nothing changes after the first frame; ``--log-rate`` is in lines a second.
``--fail-after`` raises in the middle of a paint. ``--own-terminal`` makes standard input the controlling
terminal, so that its end is told by SIGHUP; ``--nohup`` ignores SIGHUP as the command of that name does.
"""

import argparse
import asyncio
import fcntl
import math
import signal
import sys
import termios
import time
from collections.abc import Sequence
from dataclasses import replace

from widgets.values import (
    BenchPanel,
    BenchRow,
    GpuPanel,
    GpuRow,
    Header,
    Ladder,
    LadderRung,
    LogLine,
    LogPanel,
    Mood,
    ProfileRow,
    ScreenValues,
    WhyPanel,
)

TOTAL_MIB = 143_771.0
_RUNGS = (
    LadderRung("process", Mood.GOOD, "alive", "3:12", 1, "", "python3 -m sglang.launch_server, pid 41207"),
    LadderRung("port", Mood.GOOD, "open", "0:35", 642, "0.2 ms", "connected to 127.0.0.1:30000"),
    LadderRung("health", Mood.WAITING, "answers 503", "0:35", 41, "12 ms", "503 Service Unavailable"),
    LadderRung("model", Mood.IDLE, "not asked yet"),
    LadderRung("token", Mood.IDLE, "not asked yet"),
)
_TEXTS = (
    "[2026-11-29 15:04:12 TP0] Load weight begin. avail mem=138.42 GB",
    "Loading safetensors checkpoint shards:  46% Completed | 54/118 [00:41<00:48,  1.31it/s]",
    "[2026-11-29 15:04:13 TP3] WARNING: custom allreduce is disabled; 日本語 and \U0001f600 are wide",
    "[2026-11-29 15:04:14] server_args=ServerArgs(model_path='/models/Qwen3-235B-A22B-Instruct-2507-FP8', "
    "tokenizer_mode='auto', load_format='auto', tp_size=8, mem_fraction_static=0.88, context_length=262144)",
    "[2026-11-29 15:04:15 TP5]\tMultiple\ttabs [/not markup] [bold]",
)
_MOODS = (Mood.IDLE, Mood.IDLE, Mood.WARNING, Mood.ACTIVE, Mood.IDLE)


def log_line(number: int) -> LogLine:
    """Return a made-up log line."""
    kind = number % len(_TEXTS)
    return LogLine(number, _TEXTS[kind], _MOODS[kind])


def gpu_row(index: int, at_s: float) -> GpuRow:
    """Return a GPU that loads: memory climbs, utilisation swings."""
    used = min(TOTAL_MIB * 0.9, 1_024 + 2_310 * at_s + 700 * index)
    swing = [50 + 50 * math.sin((at_s - age + index) / 3) for age in range(80, -1, -1)]
    return GpuRow(
        index=index,
        name="NVIDIA H200",
        memory_used_mib=used,
        memory_total_mib=TOTAL_MIB,
        slope_gib_s=2.31 + 0.1 * math.sin(at_s + index),
        utilisation_pct=swing[-1],
        history=tuple(swing),
        power_w=300 + 100 * math.sin(at_s / 2 + index),
        power_limit_w=700.0,
        temperature_c=54 + 3 * math.sin(at_s / 5 + index),
    )


def values(at_s: float, gpus: int) -> ScreenValues:
    """Return a whole screen at so many seconds of a load."""
    rows = tuple(gpu_row(index, at_s) for index in range(gpus))
    used = sum(row.memory_used_mib or 0 for row in rows) / 1024
    clock = f"T+ {int(at_s) // 60}:{int(at_s) % 60:02d}"
    caption = f"{used:.0f}/{gpus * TOTAL_MIB / 1024:.0f} GiB, driver 570.86.15, 1 s ago"
    return ScreenValues(
        header=Header(
            "gpu01", "sglang 0.5.6", "Qwen3-235B-A22B-Instruct-2507-FP8", clock, "LOADING", Mood.ACTIVE
        ),
        gpus=GpuPanel(rows, caption=caption),
        ladder=Ladder(_RUNGS, "not ready: health answers 503 while weights load", Mood.WAITING),
        log=LogPanel("/var/log/sglang/qwen3.log", tail="Loading shards:  46%"),
        bench=BenchPanel("press b to run it; it waits until the server is ready"),
        status="watching pid 41207 on gpu01",
    )


BENCH_DONE = BenchPanel(
    headline="done: 64 of 64 requests, 1,204 tokens/s",
    mood=Mood.GOOD,
    columns=("mean", "p50", "p90", "p99"),
    rows=(
        BenchRow("TTFT ms", ("182.4", "171.0", "240.9", "n/a")),
        BenchRow("ITL ms", ("11.2", "10.9", "13.5", "19.0")),
        BenchRow("TPOT ms", ("11.4", "11.1", "13.0", "n/a")),
        BenchRow("E2E ms", ("1,640", "1,622", "1,811", "n/a")),
        BenchRow("output tokens/s", ("1,204", "", "", "")),
        BenchRow("requests/s", ("9.4", "", "", "")),
    ),
    notes=("concurrency 16 asked, 15.7 achieved; measured on the server's host",),
)


class FakeLoad:
    """A load that goes on by the clock, or stands still."""

    def __init__(
        self, gpus: int = 8, *, still: bool = False, log_rate: float = 10.0, fail_after_s: float | None = None
    ) -> None:
        self.started_s = time.monotonic()
        self.bench = BenchPanel("press b to run it; it waits until the server is ready")
        self._gpus, self._still, self._fail_after_s = gpus, still, fail_after_s
        self._log_rate = log_rate

    @property
    def at_s(self) -> float:
        """Seconds of the load."""
        return 40.0 + (0.0 if self._still else time.monotonic() - self.started_s)

    def values(self) -> ScreenValues:
        """Return the values of now."""
        if self._fail_after_s is not None and time.monotonic() - self.started_s > self._fail_after_s:
            raise RuntimeError("made to fail")
        return replace(values(self.at_s, self._gpus), bench=self.bench)

    def lines_after(self, number: int) -> Sequence[LogLine]:
        """Return what the log has grown by."""
        count = 400 + int(self._log_rate * (self.at_s - 40.0))
        return [log_line(each) for each in range(number + 1, count)]

    def why(self) -> WhyPanel:
        """Return that nothing is judged."""
        return WhyPanel(sentence="nothing is judged here")

    def bug_report(self) -> str:
        """Return what would be copied."""
        return "a report"

    def keep_report(self, report: str) -> str:
        """Keep nothing."""
        return f"{len(report)} characters are not kept"

    def can_diagnose(self) -> bool:
        """Return that there is nothing to look into."""
        return False

    def diagnose_plan(self) -> str:
        """Say so."""
        return "there is nothing to look into"

    def diagnose(self) -> str:
        """Look into nothing."""
        return self.diagnose_plan()

    def skip_log(self) -> str:
        """Say that there is nothing to skip."""
        return "the log is read to its end: there is nothing to skip"

    def start_bench(self) -> str:
        """Pretend that a benchmark has been run."""
        self.bench = BENCH_DONE
        return "benchmark started: 64 requests, 16 at a time"

    def cancel_bench(self) -> str:
        """Pretend that there was one."""
        return "benchmark cancelled"

    def profiles(self) -> Sequence[ProfileRow]:
        """Return two made-up workloads."""
        return (
            ProfileRow("decode", "what people quote as tok/s", "1 stream, 64 in, 256 out", chosen=True),
            ProfileRow("serve", "a server under load", "16 streams, 1024 in, 256 out"),
        )

    def choose_profile(self, name: str) -> str:
        """Pretend that it was chosen."""
        return f"b runs {name}"

    def try_again(self) -> str:
        """Say that there is no link."""
        return "there is no link to try again"

    def exit_lines(self) -> Sequence[str]:
        """Return the summary."""
        return ["gpu01 · sglang 0.5.6 · Qwen3-235B-A22B", "not ready after 3:12 (loading)"]


def main() -> int:
    """Run it; return the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--theme")
    parser.add_argument("--glyphs")
    parser.add_argument("--still", action="store_true")
    parser.add_argument("--log-rate", type=float, default=10.0)
    parser.add_argument("--fail-after", type=float)
    parser.add_argument("--no-mouse", action="store_true")
    parser.add_argument("--own-terminal", action="store_true")
    parser.add_argument("--nohup", action="store_true")
    chosen = parser.parse_args()
    if chosen.own_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if chosen.nohup:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
    from tui.app import TminusApp, run_screen  # the screen is loaded after the arguments, as the command does

    view = FakeLoad(chosen.gpus, still=chosen.still, log_rate=chosen.log_rate, fail_after_s=chosen.fail_after)

    async def run() -> int:
        app = TminusApp(view, theme=chosen.theme, glyphs=chosen.glyphs, mouse=not chosen.no_mouse)
        return await run_screen(app)

    return asyncio.run(run())


if __name__ == "__main__":
    sys.exit(main())
