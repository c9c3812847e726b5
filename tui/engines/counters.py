"""What each engine's counters mean, and how its prefix cache is emptied.

From the published sources: SGLang 0.4 to 0.5.23, vLLM 0.8 to 0.33, TensorRT-LLM 1.2 and 1.3, TGI 3.3; of
llama.cpp also from its pages (b10434). Counters have the names that stand on the page, with their colons.
"""

from dataclasses import dataclass

from tui.bench.counters import CounterNames, ServerFigures, named, server_figures
from tui.benchmark import BenchResult
from tui.engines.registry import ENGINES, engine_named
from tui.requests import Counters, Flush

SGLANG_IDLE_S = 31.0
"""Once idle, SGLang's scheduler tells how many requests run every 30 s; until then its last value stands."""


@dataclass(frozen=True, slots=True)
class _Page:
    """An engine's metrics page. ``needs`` and ``flush_needs`` are settings without which it is not served."""

    names: CounterNames
    path: str = "/metrics"
    needs: str = ""
    settle_s: float = 0.0
    flush_needs: str = ""


_PAGES = {
    # Tokens count when a request ends. A label of its own for each source of a hit, and for verification:
    # neither is on the page before its first count. What a step accepts has gauges of the last batch alone.
    "sglang": _Page(
        CounterNames(
            prompt=(("sglang:prompt_tokens_total",),),
            generated=(("sglang:generation_tokens_total",),),
            looked_up=(("sglang:prompt_tokens_total",),),
            hits=(("sglang:cached_tokens_total",),),
            steps=(("sglang:spec_verify_calls_total",),),
            draft_length="sglang:spec_num_steps",
            hits_come_late=True,
            counted_at_end=True,
        ),
        needs="--enable-metrics",
        settle_s=SGLANG_IDLE_S,
    ),
    "vllm": _Page(
        CounterNames(
            prompt=(("vllm:prompt_tokens_total",),),
            generated=(("vllm:generation_tokens_total",),),
            looked_up=(("vllm:prefix_cache_queries_total",), ("vllm:gpu_prefix_cache_queries_total",)),
            hits=(("vllm:prefix_cache_hits_total",), ("vllm:gpu_prefix_cache_hits_total",)),
            drafts=(("vllm:spec_decode_num_drafts_total",),),
            drafted=(("vllm:spec_decode_num_draft_tokens_total",),),
            accepted=(("vllm:spec_decode_num_accepted_tokens_total",),),
        ),
        flush_needs="VLLM_SERVER_DEV_MODE=1",
    ),
    # Prompt tokens are those that were not cached; from August 2026 the cached ones have a counter.
    "llamacpp": _Page(
        CounterNames(
            prompt=(
                ("llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"),
                ("llamacpp:prompt_tokens_total",),
            ),
            generated=(("llamacpp:tokens_predicted_total",),),
            looked_up=(("llamacpp:prompt_tokens_total", "llamacpp:prompt_tokens_cached_total"),),
            hits=(("llamacpp:prompt_tokens_cached_total",),),
            drafts=(("llamacpp:spec_decode_num_drafts_total",),),
            drafted=(("llamacpp:spec_decode_num_draft_tokens_total",), ("llamacpp:tokens_drafted_total",)),
            accepted=(
                ("llamacpp:spec_decode_num_accepted_tokens_total",),
                ("llamacpp:tokens_drafted_accepted_total",),
            ),
            counted_at_end=True,
        ),
        needs="--metrics",
    ),
    "tgi": _Page(
        CounterNames(
            prompt=(("tgi_request_input_length_sum",),),
            generated=(("tgi_request_generated_tokens_sum",),),
            counted_at_end=True,
        )
    ),
    "trtllm": _Page(
        CounterNames(
            prompt=(("trtllm_prompt_tokens_total",),),
            generated=(("trtllm_generation_tokens_total",),),
            looked_up=(("trtllm_prompt_tokens_total",),),
            hits=(("trtllm_prompt_cached_tokens_total",),),
            drafted=(
                ("trtllm_spec_decode_drafted_tokens_total",),
                ("trtllm_spec_decode_num_draft_tokens_total",),
            ),
            accepted=(
                ("trtllm_spec_decode_accepted_tokens_total",),
                ("trtllm_spec_decode_num_accepted_tokens_total",),
            ),
            counted_at_end=True,
        ),
        path="/prometheus/metrics",
        needs="return_perf_metrics: true",
    ),
}


def counters_for(engine_name: str | None) -> Counters:
    """Return what to read of that engine; the names of all engines for one that is unknown or any other."""
    page = _PAGES.get(engine_name or "")
    if page is None:
        return _counters_of_all()
    draft_length = page.names.draft_length
    return Counters(
        path=page.path,
        running=_running(engine_name),
        names=page.names.all,
        highest=(draft_length,) if draft_length else (),
        settle_s=page.settle_s,
        needs=page.needs,
        flush=_flush(engine_name, page),
    )


def figures_of(result: BenchResult) -> ServerFigures:
    """Return what the counters in a result say of its run, whichever engine they are of."""
    return server_figures(result, named([page.names for page in _PAGES.values()], result))


def _counters_of_all() -> Counters:
    each = [counters_for(engine.name) for engine in ENGINES if engine.name in _PAGES]
    return Counters(
        running=tuple(name for one in each for name in one.running),
        names=tuple(name for one in each for name in one.names),
        highest=tuple(name for one in each for name in one.highest),
        settle_s=max(one.settle_s for one in each),
    )


def _running(engine_name: str | None) -> tuple[str, ...]:
    engine = engine_named(engine_name)
    metrics = engine.metrics if engine is not None else None
    names = (metrics.running, metrics.queued) if metrics is not None else ()
    return tuple(name for name in names if name is not None)


def _flush(engine_name: str | None, page: _Page) -> Flush | None:
    """Return the engine's one call for the whole cache; llama.cpp's, one a slot, is none."""
    engine = engine_named(engine_name)
    method, _, path = (engine.flush_cache or "").partition(" ") if engine is not None else ("", "", "")
    if not path or "{" in path:
        return None
    hits = tuple(name for way in page.names.hits for name in way)
    return Flush(method=method, path=path, hits=hits, needs=page.flush_needs)
