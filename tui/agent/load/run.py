"""One benchmark from its request to its result: preflight, warm-up, measurement.

- Preflight: the list of models, then one short request (preflight.py).
- Warm-up and measurement: one loop of streams without a break between them (stage.py), with garbage
  collection off.

Whatever happens, one result comes: done, failed (nothing succeeded, or the run was given up) or cancelled,
after the records of what was measured.
"""

from __future__ import annotations

import asyncio
import gc
import os
import resource
import time
from typing import TYPE_CHECKING, cast

from tui.agent import wire
from tui.agent.load import fast
from tui.agent.load.connections import BadUrl, Endpoint, StampingSelector
from tui.agent.load.counters import Meter
from tui.agent.load.dataset import WrongPrompt
from tui.agent.load.flush import Flusher
from tui.agent.load.lag import Watch
from tui.agent.load.lines import Lines
from tui.agent.load.metrics import Tally
from tui.agent.load.preflight import Failed, Preflight
from tui.agent.load.progress import LIVE_S, Progress
from tui.agent.load.stage import NothingCame, Stage, streams_of
from tui.agent.load.words import failure_sentence, outcome_sentence
from tui.agent.load.work import requests_of
from tui.agent.processes import keys

if TYPE_CHECKING:
    from typing import Any

    from tui.agent.load.connections import Clock
    from tui.agent.load.work import Requests
    from tui.agent.worker import Channel

# Failures before anything was asked of the server; they count as no failed request.
_OUR_OWN = ("no_model", "bad_request", "bad_url", "busy", "client_limit")
_DESCRIPTORS = 65536  # a connection a stream; many systems allow 1024 unless asked


def run(channel: Channel, request: dict[str, Any]) -> None:
    """Run one benchmark and send its records and its result."""
    _allow_connections()
    clock: Clock = fast.ReadingClock()
    loop = fast.new_uvloop()
    name = "uvloop"
    if loop is None:
        clock = StampingSelector()
        loop, name = asyncio.SelectorEventLoop(clock), "asyncio"
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(Benchmark(channel, request, clock, name).run())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


def _allow_connections() -> None:
    """Let this process have as many connections as its user may give it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class Benchmark:
    """The state of one benchmark."""

    def __init__(self, channel: Channel, request: dict[str, Any], clock: Clock, loop_name: str) -> None:
        self._channel = channel
        self._request = request
        self._spec: dict[str, Any] = request["spec"]
        self._clock = clock
        self._loop_name = loop_name
        self._watch = Watch(clock)
        self._model: str | None = self._spec["model"]
        self._fault = ""
        self._stage: Stage | None = None
        self._lines: Lines | None = None
        self._preflight: Preflight | None = None
        self._meter: Meter | None = None
        self._others: float | None = None
        self._flusher: Flusher | None = None
        self._task: asyncio.Task[str] | None = None
        self._progress = Progress(channel, request["run"], time.monotonic())

    async def run(self) -> None:
        """Run all of it and send what came of it."""
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._stages())
        loop.add_reader(self._channel.fileno(), self._hear)
        ticks = loop.create_task(self._progress.run())
        self._hear()
        outcome, sentence = "failed", "the load generator itself failed; a notice says how"
        try:
            sentence = await self._task
            outcome = "done" if self._whole() else "failed"
        except Failed as error:
            self._fault = error.fault
            sentence = failure_sentence(error.fault, error.detail, self._spec["url"])
        except asyncio.CancelledError:
            outcome, sentence = "cancelled", self._so_far()
        finally:
            ticks.cancel()
            loop.remove_reader(self._channel.fileno())
            self._tell(outcome, sentence)

    def _whole(self) -> bool:
        stage = self._stage
        return stage is not None and stage.tally.completed > 0 and not stage.plan.given_up

    def _so_far(self) -> str:
        stage = self._stage
        if stage is None or stage.plan.began_s is None:
            return "nothing was measured yet"
        return "%d of %d requests answered" % (stage.tally.completed, stage.plan.requests)

    def _hear(self) -> None:
        """Take the requests that wait: a cancellation, or a second benchmark, which is refused."""
        while True:
            message = self._channel.receive(0)
            self._channel.rest(LIVE_S)
            if message is None:
                return
            if message["kind"] == wire.BENCH:
                refused = cast("dict[str, Any]", message)
                self._channel.send(_refusal(refused, "a benchmark is already running"))
            elif message["kind"] == wire.BENCH_CANCEL and message["run"] == self._request["run"]:
                assert self._task is not None
                self._task.cancel()

    async def _stages(self) -> str:
        _check(self._spec)
        endpoint = self._endpoint()
        self._lines = lines = Lines(endpoint)
        try:
            requests = self._work(endpoint)
            self._preflight = preflight = Preflight(lines, requests, self._spec)
            self._model = await preflight.find_model()
            await preflight.first_request()
            self._meter = meter = Meter(lines, requests, self._request.get("counters"))
            await self._look_around(lines, requests, meter)
            refused = await lines.open(streams_of(self._spec))
            if refused is not None:
                raise Failed(refused.fault, refused.detail)
            return await self._measure(lines, requests, meter)
        finally:
            if self._meter is not None:
                self._meter.drop()
            if self._preflight is not None:
                self._model = self._preflight.model
            lines.close()

    def _endpoint(self) -> Endpoint:
        spec = self._spec
        try:
            return Endpoint(
                spec["url"], insecure=spec["insecure"], ca_file=spec["ca_file"], clock=self._clock
            )
        except BadUrl as error:
            raise Failed("bad_url", str(error)) from None

    def _work(self, endpoint: Endpoint) -> Requests:
        salt = "%s %d %d" % (self._request["run"], os.getpid(), time.time_ns())
        try:
            return requests_of(self._request, endpoint, api_key=_api_key(self._request), salt=salt)
        except WrongPrompt as error:
            raise Failed("bad_request", str(error)) from None

    async def _look_around(self, lines: Lines, requests: Requests, meter: Meter) -> None:
        """See whether others use the server, and empty its prefix cache where that was asked."""
        assert self._model is not None
        anyway: bool = self._spec["despite_load"]
        self._others = await meter.others(patient=not anyway)
        if self._others and not anyway:
            one = self._others == 1
            raise Failed("busy", "%d other request%s" % (self._others, " runs" if one else "s run"))
        if self._spec["flush_cache"]:
            self._flusher = Flusher(lines, requests, meter, self._model)
            await self._flusher.run(self._others)

    async def _measure(self, lines: Lines, requests: Requests, meter: Meter) -> str:
        assert self._model is not None
        template = requests.template(self._model, self._spec["output_tokens"], self._spec["turns"])
        self._stage = stage = Stage(lines, template, self._spec, self._watch.start, meter.begin)
        self._progress.stage = stage
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            await stage.run()
        except NothingCame as error:
            raise Failed(*error.args) from None
        finally:
            self._watch.stop()
            gc.enable()
            gc.unfreeze()
        await meter.end()
        return self._sentence(stage, meter)

    def _sentence(self, stage: Stage, meter: Meter) -> str:
        tally, where = stage.tally, self._spec["url"]
        if stage.plan.began_s is None:
            raise Failed(*stage.warm.last_failure)
        if not tally.completed:
            self._fault = tally.outcomes.last_failure[0]
        requests = stage.plan.requests if stage.plan.given_up else stage.plan.launched
        parts = [outcome_sentence(tally, requests=requests, where=where)]
        if stage.agreed is False:
            parts.append("the warm-up found no steady rate in %.0f s" % stage.warm_seconds())
        parts.append(meter.words())
        return "; ".join(filter(None, parts))

    def _tell(self, outcome: str, sentence: str) -> None:
        stage = self._stage
        tally = stage.tally if stage is not None else Tally()
        figures = tally.fields()
        if self._fault and self._fault not in _OUR_OWN and not tally.completed and not tally.failed:
            warm = stage.warm.failures if stage is not None else {}
            failures = dict(sorted(warm.items())) or {self._fault: 1}
            figures.update(failures=failures, failed=sum(failures.values()))
        tally.records.send(self._channel, self._request["run"])
        self._channel.send(self._result(outcome, sentence, figures))

    def _result(self, outcome: str, sentence: str, figures: dict[str, object]) -> dict[str, object]:
        preflight, lines = self._preflight, self._lines
        return wire.stamped(
            wire.BENCH_RESULT,
            run=self._request["run"],
            outcome=outcome,
            sentence=sentence,
            fault=self._fault,
            spec=self._spec,
            model=self._model,
            warmup=self._warmup(),
            first_ttft_ms=_ms(preflight.first_ttft_s if preflight is not None else None),
            connect_ms=_ms(lines.connect_s if lines is not None else None),
            client_cpu_fraction=self._watch.cpu_fraction,
            lag_ms=self._watch.lag.summary(),
            event_loop=self._loop_name,
            measured_on=self._request.get("measured_on", "server_host"),
            **self._counted(),
            **figures,
        )

    def _counted(self) -> dict[str, object]:
        """Return what the server says of itself."""
        flusher = self._flusher
        return {
            "counters": self._meter.rows() if self._meter is not None else [],
            "spilled": self._stage.spill.fields() if self._stage is not None else None,
            "others_running": self._others,
            "flush": flusher.state if flusher is not None else "not_asked",
            "flush_sentence": flusher.sentence if flusher is not None else "",
        }

    def _warmup(self) -> dict[str, object] | None:
        """Return what came before the measurement, None when it did not come to that."""
        stage = self._stage
        if stage is None:
            return None
        ended = stage.warm.completed + stage.warm.failed
        return {"requests": ended, "seconds": stage.warm_seconds(), "agreed": stage.agreed}


def _check(spec: dict[str, Any]) -> None:
    """Refuse what cannot be run, and see to enough descriptors."""
    for name in ("concurrency", "requests", "input_tokens", "output_tokens"):
        if spec[name] < 1:
            raise Failed("bad_request", "%s must be at least 1" % name.replace("_", " "))
    if spec["arrival"] != "closed" and not (spec["rate_per_s"] or 0) > 0:
        raise Failed("bad_request", "%s arrivals need a rate above 0" % spec["arrival"])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = spec["concurrency"] + 64
    if soft < wanted:
        limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))


def _api_key(request: dict[str, Any]) -> str | None:
    """Return the key that was sent, else, where that is allowed, the one in the server's own arguments."""
    key: str | None = request.get("api_key")
    pid: int | None = request.get("pid")
    if not key and pid is not None and request.get("key_from_argv"):
        key = keys.key_of(pid)
    # Anything else cannot stand in a header, or would begin another one.
    return key if key and key.isascii() and key.isprintable() else None


def tell_death(channel: Channel, request: dict[str, Any]) -> None:
    """Send the result of a benchmark whose process died without one."""
    channel.send(_refusal(request, "the load generator ended (%s)" % request["died"]))


def _refusal(request: dict[str, Any], sentence: str) -> dict[str, object]:
    return wire.stamped(
        wire.BENCH_RESULT,
        run=request["run"],
        outcome="failed",
        sentence=sentence,
        spec=request["spec"],
        model=None,
        client_cpu_fraction=None,
        measured_on=request.get("measured_on", "server_host"),
        **Tally().fields(),
    )


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e3
