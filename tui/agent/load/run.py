"""One benchmark from its request to its result: preflight, warm-up, measurement.

- Preflight: the list of models (which gives the model when none is named), then one short request that shows
  that tokens flow, from the right model, and how many tokens a prompt counts.
- Warm-up: one request a stream, a second one on those that are quick; at most 2 x concurrency requests and
  10 s, whatever is in flight then is dropped. Streams wait for each other before the measurement.
- Measurement: the closed loop, with garbage collection off.

Whatever happens, one result comes: done, failed (nothing succeeded, or the run was given up) or cancelled.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import time
from typing import TYPE_CHECKING, cast

from tui.agent import wire
from tui.agent.load.connections import BadUrl, Endpoint, Exchange, StampingSelector
from tui.agent.load.judge import Asked, judge
from tui.agent.load.metrics import Tally
from tui.agent.load.progress import LIVE_S, Progress
from tui.agent.load.stage import Lines, Stage
from tui.agent.load.stream import plain, read_exchange
from tui.agent.load.words import failure_sentence, outcome_sentence
from tui.agent.load.work import Prompts, Requests
from tui.agent.processes import keys

if TYPE_CHECKING:
    from typing import Any

    from tui.agent.worker import Channel

MODELS_TIMEOUT_S = 15.0
PREFLIGHT_TOKENS = 4
WARMUP_TOKENS = 64
WARMUP_LAUNCH_S = 2.0
WARMUP_LIMIT_S = 10.0
SETTLE_S = 0.25  # for the server to let go of the streams that the end of a warm-up cut
_LISTED = 5
_PREFLIGHT_INDEX = 2000000000
_WARMUP_INDEX = 1000000000


class Failed(Exception):
    """The benchmark cannot go on; carries the class and the words."""

    def __init__(self, fault: str, detail: str) -> None:
        super().__init__(fault, detail)
        self.fault = fault
        self.detail = detail


def run(channel: Channel, request: dict[str, Any]) -> None:
    """Run one benchmark and send its result."""
    clock = StampingSelector()
    loop = asyncio.SelectorEventLoop(clock)
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(Benchmark(channel, request, clock).run())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


class Benchmark:
    """The state of one benchmark."""

    def __init__(self, channel: Channel, request: dict[str, Any], clock: StampingSelector) -> None:
        self._channel = channel
        self._request = request
        self._spec: dict[str, Any] = request["spec"]
        self._clock = clock
        self._began_s = time.monotonic()
        self._model: str | None = self._spec["model"]
        self._tally = Tally(Asked(None, 0))
        self._cpu_fraction: float | None = None
        self._task: asyncio.Task[str] | None = None
        self._progress = Progress(channel, request["run"], self._began_s)

    async def run(self) -> None:
        """Run all of it and send the result."""
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
            sentence = failure_sentence(error.fault, error.detail, self._spec["url"])
        except asyncio.CancelledError:
            outcome, sentence = "cancelled", self._so_far()
        finally:
            ticks.cancel()
            loop.remove_reader(self._channel.fileno())
            self._channel.send(self._result(outcome, sentence))

    def _whole(self) -> bool:
        tally = self._tally
        return tally.completed > 0 and tally.completed + tally.failed == self._spec["requests"]

    def _so_far(self) -> str:
        stage = self._progress.stage
        if self._progress.name != "measure" or stage is None:
            return "nothing was measured yet"
        stage.backlog.finish()
        return "%d of %d requests answered" % (stage.tally.completed, stage.requests)

    def _hear(self) -> None:
        """Take the requests that wait: a cancellation, or a second benchmark, which is refused."""
        while True:
            message = self._channel.receive(0)
            self._channel.rest(LIVE_S)
            if message is None:
                return
            if message["kind"] == wire.BENCH:
                self._channel.send(_refusal(cast("dict[str, Any]", message)))
            elif message["kind"] == wire.BENCH_CANCEL and message["run"] == self._request["run"]:
                assert self._task is not None
                self._task.cancel()

    async def _stages(self) -> str:
        self._check()
        lines = Lines(self._endpoint())
        try:
            await self._preflight(lines)
            await self._warm_up(lines)
            return await self._measure(lines)
        finally:
            lines.close()

    def _check(self) -> None:
        for name in ("concurrency", "requests", "input_tokens", "output_tokens"):
            if self._spec[name] < 1:
                raise Failed("bad_request", "%s must be at least 1" % name.replace("_", " "))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self._spec["concurrency"] + 64
        if soft < wanted:
            limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))

    def _endpoint(self) -> Endpoint:
        spec = self._spec
        try:
            endpoint = Endpoint(
                spec["url"], insecure=spec["insecure"], ca_file=spec["ca_file"], clock=self._clock
            )
        except BadUrl as error:
            raise Failed("bad_url", str(error)) from None
        salt = "%s %d %d" % (self._request["run"], os.getpid(), time.time_ns())
        prompts = Prompts(seed=spec["seed"], salt=salt, tokens=spec["input_tokens"])
        self._requests = Requests(endpoint, api_key=_api_key(self._request), prompts=prompts)
        return endpoint

    async def _preflight(self, lines: Lines) -> None:
        self._tally = Tally(Asked(None, 0))
        try:
            await self._find_model(lines)
            await self._first_request(lines)
        except Failed as error:
            if error.fault not in ("no_model", "bad_request"):
                self._tally.failures = {error.fault: 1}
            raise

    async def _find_model(self, lines: Lines) -> None:
        exchange = await lines.ask(0, self._requests.models(), MODELS_TIMEOUT_S)
        if exchange.fault:
            raise Failed(exchange.fault, exchange.detail)
        if exchange.status in (401, 403):
            raise Failed(*judge(exchange, read_exchange(exchange), Asked(None, 0)))
        ids = _model_ids(exchange)
        if self._model is None:
            if not ids and exchange.status != 200:
                raise Failed(*judge(exchange, read_exchange(exchange), Asked(None, 0)))
            if not ids:
                raise Failed("no_model", "")
            self._model = ids[0]
        elif ids and self._model not in ids:
            listed = ", ".join(ids[:_LISTED]) + (", …" if len(ids) > _LISTED else "")
            raise Failed("wrong_model", "it lists %s, not %s" % (listed, self._model))

    async def _first_request(self, lines: Lines) -> None:
        """Send one short request; a server that refuses its optional fields is asked again without them."""
        assert self._model is not None
        tokens = min(PREFLIGHT_TOKENS, self._spec["output_tokens"])
        first: Failed | None = None
        while True:
            template = self._requests.template(self._model, tokens)
            request = template.make(_PREFLIGHT_INDEX)
            exchange = await lines.ask(0, request, self._spec["timeout_s"])
            answer = read_exchange(exchange)
            fault, detail = judge(exchange, answer, Asked(self._model, 0))
            if not fault:
                break
            first = first or Failed(fault, detail)
            if fault not in ("http_400", "http_422") or not self._requests.manners.less():
                raise first
        if answer.usage_input:
            self._requests.prompts.fit(answer.usage_input)

    async def _warm_up(self, lines: Lines) -> None:
        streams = min(self._spec["concurrency"], self._spec["requests"])
        refused = await lines.open(streams)
        if refused is not None:
            self._tally.failures = {refused.fault: 1}
            raise Failed(refused.fault, refused.detail)
        tokens = min(WARMUP_TOKENS, self._spec["output_tokens"])
        stage = self._stage(lines, tokens, streams=streams, requests=2 * streams)
        self._progress.enter("warmup", stage)
        try:
            work = stage.run(first_index=_WARMUP_INDEX, launch_s=WARMUP_LAUNCH_S)
            await asyncio.wait_for(work, WARMUP_LIMIT_S)
        except asyncio.TimeoutError:
            stage.backlog.finish()
            await asyncio.sleep(SETTLE_S)
        if stage.tally.failures and not stage.tally.completed:
            self._tally = stage.tally
            raise Failed(*stage.tally.last_failure)

    def _stage(self, lines: Lines, tokens: int, *, streams: int, requests: int) -> Stage:
        assert self._model is not None
        template = self._requests.template(self._model, tokens)
        tally = Tally(Asked(self._model, tokens))
        return Stage(
            lines, template, tally, streams=streams, requests=requests, timeout_s=self._spec["timeout_s"]
        )

    async def _measure(self, lines: Lines) -> str:
        spec = self._spec
        stage = self._stage(
            lines, spec["output_tokens"], streams=spec["concurrency"], requests=spec["requests"]
        )
        # A connection that the server closed since its last use is opened again before the clock starts.
        refused = await lines.open(stage.streams)
        if refused is not None:
            self._tally.failures = {refused.fault: 1}
            raise Failed(refused.fault, refused.detail)
        self._tally = stage.tally
        self._progress.enter("measure", stage)
        gc.collect()
        gc.freeze()
        gc.disable()
        cpu_s, began_s = time.process_time(), time.monotonic()
        try:
            await stage.run()
        finally:
            gc.enable()
            gc.unfreeze()
            self._cpu_fraction = (time.process_time() - cpu_s) / max(1e-9, time.monotonic() - began_s)
        return outcome_sentence(
            stage.tally, requests=stage.requests, where=spec["url"], cpu_fraction=self._cpu_fraction
        )

    def _result(self, outcome: str, sentence: str) -> dict[str, object]:
        return wire.stamped(
            wire.BENCH_RESULT,
            run=self._request["run"],
            outcome=outcome,
            sentence=sentence,
            spec=self._spec,
            model=self._model,
            client_cpu_fraction=self._cpu_fraction,
            measured_on=self._request.get("measured_on", "server_host"),
            **self._tally.fields(),
        )


def _api_key(request: dict[str, Any]) -> str | None:
    """Return the key that was sent, else, where that is allowed, the one in the server's own arguments."""
    key: str | None = request.get("api_key")
    pid: int | None = request.get("pid")
    if not key and pid is not None and request.get("key_from_argv"):
        key = keys.key_of(pid)
    # Anything else cannot stand in a header, or would begin another one.
    return key if key and key.isascii() and key.isprintable() else None


def _refusal(request: dict[str, Any]) -> dict[str, object]:
    return wire.stamped(
        wire.BENCH_RESULT,
        run=request["run"],
        outcome="failed",
        sentence="a benchmark is already running",
        spec=request["spec"],
        model=None,
        client_cpu_fraction=None,
        measured_on=request.get("measured_on", "server_host"),
        **Tally(Asked(None, 0)).fields(),
    )


def _model_ids(exchange: Exchange) -> list[str]:
    """Return the ids of a list of models ([] for anything else)."""
    try:
        found = json.loads(exchange.body.decode("utf-8", "replace"))
        return [plain(str(one["id"])) for one in found["data"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []
