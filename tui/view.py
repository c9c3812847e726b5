"""What a screen may ask of the watch behind it; the app implements it over a session."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from widgets.values import (
    BenchPanel,
    GpuPanel,
    Header,
    Ladder,
    LogLine,
    LogPanel,
    Mood,
    ProfileRow,
    ScreenValues,
    WhyPanel,
)


class View(Protocol):
    """The watch as a screen sees it: values to draw, lines to add, and the few things a key can start."""

    def values(self) -> ScreenValues:
        """Return what one paint needs, as of now; equal values cost nothing to draw."""
        ...

    def lines_after(self, number: int) -> Sequence[LogLine]:
        """Return the log lines with a higher number, oldest first (at most the newest 20,000)."""
        ...

    def why(self) -> WhyPanel:
        """Return all that speaks for the verdict, as of now."""
        ...

    def bug_report(self) -> str:
        """Return what a person can post: verdict, evidence, versions and the end of the log, masked."""
        ...

    def keep_report(self, report: str) -> str:
        """Write a bug report to a file; return where, or why that failed, in a sentence."""
        ...

    def can_diagnose(self) -> bool:
        """Return whether the plan of a diagnosis can be carried out."""
        ...

    def diagnose_plan(self) -> str:
        """Return what a diagnosis would touch, or why there can be none; nothing is touched."""
        ...

    def diagnose(self) -> str:
        """Look into the quiet ranks; return what that touches, or why it is not done, in a sentence."""
        ...

    def skip_log(self) -> str:
        """Jump to the end of a log that is far behind; return what is done in one sentence."""
        ...

    def start_bench(self) -> str:
        """Fire the benchmark, or arm it until ready; return the sentence that says which."""
        ...

    def cancel_bench(self) -> str:
        """Cancel or disarm the benchmark; return what was done in one sentence."""
        ...

    def profiles(self) -> Sequence[ProfileRow]:
        """Return the workloads that can be fired, () where there is no server to benchmark."""
        ...

    def choose_profile(self, name: str) -> str:
        """Choose what the benchmark key fires; return which in one sentence."""
        ...

    def try_again(self) -> str:
        """Connect again where the link rests; return what was done in one sentence."""
        ...

    def exit_lines(self) -> Sequence[str]:
        """Return up to 6 lines that sum the watch up, written after the screen is left."""
        ...


def skeleton(host: str) -> ScreenValues:
    """Return the first frame, before anything is known about the host."""
    unknown = f"connecting to {host}"
    return ScreenValues(
        header=Header(host=host, engine="", model="", clock="", phase="CONNECTING", mood=Mood.WAITING),
        gpus=GpuPanel((), sentence=unknown),
        ladder=Ladder((), headline=unknown, mood=Mood.WAITING),
        log=LogPanel("", sentence=unknown),
        bench=BenchPanel("press b to run it as soon as the server is ready"),
        status=unknown,
    )


class StillView:
    """A view over values that are only what it was given: one frame without a watch behind it."""

    def __init__(self, shown: ScreenValues, lines: Sequence[LogLine] = ()) -> None:
        self.shown = shown
        self.log = list(lines)
        self.reason = WhyPanel(sentence="there is no load to judge")
        self.plan = ""
        self.kept: list[str] = []
        self.diagnosed = 0
        self.workloads: list[ProfileRow] = []
        self.farewell: list[str] = []

    def values(self) -> ScreenValues:
        """Return the values given."""
        return self.shown

    def lines_after(self, number: int) -> Sequence[LogLine]:
        """Return the lines given that have a higher number."""
        return [line for line in self.log if line.number > number]

    def why(self) -> WhyPanel:
        """Return the reason given."""
        return self.reason

    def bug_report(self) -> str:
        """Return the verdict alone."""
        verdict = self.shown.verdict
        return f"{verdict.word}: {verdict.told}"

    def keep_report(self, report: str) -> str:
        """Keep the report here."""
        self.kept.append(report)
        return "the bug report is kept"

    def can_diagnose(self) -> bool:
        """Return whether a plan was given."""
        return bool(self.plan)

    def diagnose_plan(self) -> str:
        """Return the plan given."""
        return self.plan or "no server is followed: there is nothing to look into"

    def diagnose(self) -> str:
        """Count how often it was asked for."""
        self.diagnosed += 1
        return self.diagnose_plan()

    def skip_log(self) -> str:
        """Say that there is nothing to skip."""
        return "the log is read to its end: there is nothing to skip"

    def start_bench(self) -> str:
        """Say that there is nothing to benchmark."""
        return "there is no server to benchmark"

    def cancel_bench(self) -> str:
        """Say that there is nothing to cancel."""
        return "no benchmark runs"

    def profiles(self) -> Sequence[ProfileRow]:
        """Return the workloads given."""
        return self.workloads

    def choose_profile(self, name: str) -> str:
        """Choose among the workloads given."""
        if not self.workloads:
            return "there is no server to benchmark"
        self.workloads = [replace(row, chosen=row.name == name) for row in self.workloads]
        return f"b runs {name}"

    def try_again(self) -> str:
        """Say that there is no link."""
        return "there is no link to try again"

    def exit_lines(self) -> Sequence[str]:
        """Return the lines given as a farewell."""
        return self.farewell
