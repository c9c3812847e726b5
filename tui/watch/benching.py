"""The chain of runs behind a key press: which workload is chosen, and what of it is still to run."""

from collections import deque
from collections.abc import Sequence

import msgspec

from tui.bench.cut import cut_result
from tui.bench.workload import Workload, goes_on_after
from tui.benchmark import BenchResult, BenchSpec
from tui.engines.counters import counters_for
from tui.events import AnyEvent, Link
from tui.requests import BenchRequest, ProbePlan
from tui.watch.bench import CutOff
from tui.watch.meaning import Meaning


class Benching:
    """Chooses among workloads and hands out their levels one after another. It sends nothing itself."""

    def __init__(self, workloads: Sequence[Workload]) -> None:
        self.workloads = {each.name: each for each in workloads}
        self.chosen = workloads[0]
        self._left: deque[BenchSpec] = deque()
        self._run: str | None = None
        self._cut: CutOff | None = None

    def choose(self, name: str) -> bool:
        """Choose a workload; False when there is none of that name."""
        if name not in self.workloads:
            return False
        self.chosen = self.workloads[name]
        return True

    def answer(self, name: str) -> str:
        """Choose a workload; return which one the key fires now, in a sentence."""
        if not self.choose(name):
            return f"there is no profile {name}"
        return f"b runs {name or 'what the options say'}: {self.chosen.words}"

    def begin(self, series: str, *, despite_load: bool) -> None:
        """Put the levels of the chosen workload in line."""
        levels = len(self.chosen.specs)
        self._left = deque(
            msgspec.structs.replace(
                spec,
                series=series if levels > 1 else "",
                level=number,
                levels=levels,
                despite_load=despite_load or spec.despite_load,
            )
            for number, spec in enumerate(self.chosen.specs, 1)
        )

    def next(self, run: str) -> BenchSpec | None:
        """Return the next level, to be fired as that run; None when none is left."""
        self._run = run if self._left else None
        return self._left.popleft() if self._left else None

    def goes_on(self, result: BenchResult) -> bool:
        """Whether another level follows this result; a run that gave no figures ends the chain."""
        if result.run != self._run:
            return False
        if not goes_on_after(result):
            self._left.clear()
        return bool(self._left)

    def cut(self, state: Meaning, event: AnyEvent) -> BenchResult | None:
        """Return the result of a run that this event's loss of the link has cut, None where there is none."""
        cut = state.bench.cut_off
        if cut is None or cut is self._cut or not isinstance(event, Link) or event.state == "closed":
            return None
        self._cut = cut
        where = "this_machine" if state.url_alone else "server_host"
        return cut_result(cut.run, cut.spec, cut.progress, event.sentence, event, where)

    def stop(self) -> None:
        """Let what is left of the chain not run."""
        self._left.clear()


def filled_in(spec: BenchSpec, plan: ProbePlan, model: str | None) -> BenchSpec:
    """Return the spec with what the watch knows of the server."""
    return msgspec.structs.replace(
        spec,
        url=plan.url,
        model=plan.expected_model or model,
        insecure=plan.insecure,
        ca_file=plan.ca_file,
    )


def request_of(state: Meaning, workload: Workload, spec: BenchSpec, run: str) -> BenchRequest | None:
    """Return what is sent to fire a level at the server that is watched, None where there is none."""
    plan = state.wanted.probe if state.wanted is not None else None
    if plan is None:
        return None
    return BenchRequest(
        run=run,
        spec=filled_in(spec, plan, state.model),
        prompts=workload.prompts_of(spec),
        counters=counters_for(None if state.engine is None else state.engine.name),
        api_key=plan.api_key,
        key_from_argv=plan.key_from_argv,
    )
