"""A workload that a key or a command fires, and what of it must be the same for two runs to be compared."""

from dataclasses import dataclass

from tui.benchmark import BenchResult, BenchSpec
from tui.requests import Prompt


@dataclass(frozen=True, slots=True)
class Workload:
    """A named workload: one run, or the levels of a sweep in order; URL and model are filled in later.

    ``prompts`` are the conversations of its data set, () for made ones.
    """

    name: str
    about: str
    specs: tuple[BenchSpec, ...]
    prompts: tuple[Prompt, ...] = ()

    def prompts_of(self, spec: BenchSpec) -> list[Prompt]:
        """Return the conversations that a level can come to use, its warm-up included."""
        return list(self.prompts[: spec.requests + 4 * spec.concurrency])

    @property
    def words(self) -> str:
        """What it asks of the server; of a sweep, what its first level does and how far it goes."""
        first = workload_of(self.specs[0])
        if len(self.specs) == 1:
            return first
        rates = [spec.rate_per_s for spec in self.specs if spec.rate_per_s is not None]
        levels = [f"{rate:g}/s" for rate in rates] or [str(spec.concurrency) for spec in self.specs]
        return f"{', '.join(levels)} {'offered' if rates else 'streams'}; the first: {first}"


def goes_on_after(result: BenchResult) -> bool:
    """Whether the next level of a sweep is run: one that was cancelled or cut or gave no figures ends it."""
    return result.outcome not in ("cancelled", "cut") and result.completed > 0


def workload_of(spec: BenchSpec) -> str:
    """Return the workload of a spec in words: all that changes what the server is asked to do.

    Where the server is, which model it serves and who else used it belong to the fingerprint or the result.
    """
    words = [
        _arrival(spec),
        f"{spec.input_tokens} in",
        f"{spec.output_tokens} out",
        f"{spec.requests} requests",
    ]
    if spec.duration_s is not None:
        words.append(f"at most {spec.duration_s:g} s")
    if spec.data:
        words[1] = f"data {spec.data}"  # answers are as long as asked where the set does not say
    if spec.turns > 1:
        words.append(f"{spec.turns} turns")
    if spec.prefix_tokens:
        words.append(f"{spec.prefix_tokens} shared")
    words += ["no warm-up"] if not spec.warmup_s else []
    words += ["flushed"] if spec.flush_cache else []
    words += [f"seed {spec.seed}"] if spec.seed else []
    return ", ".join(words)


def _arrival(spec: BenchSpec) -> str:
    streams = f"{spec.concurrency} stream{'' if spec.concurrency == 1 else 's'}"
    if spec.arrival == "closed" or spec.rate_per_s is None:
        return streams
    return f"{spec.rate_per_s:g}/s {spec.arrival}, at most {streams}"
