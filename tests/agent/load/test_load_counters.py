"""An engine's own counters around a run, others' requests before it, and its prefix cache emptied."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tui.agent.load import counters as load_counters
from tui.agent.load import flush as load_flush
from tui.requests import Counters, Flush

Say = Any
COUNTERS = Counters(
    running=("e:running", "e:waiting"),
    names=("e:generated_total", "e:prompt_total", "e:hits_total"),
    needs="--show",
    flush=Flush(method="POST", path="/flush", hits=("e:hits_total",), needs="DEV=1"),
)


def values(page: bytes, *names: str, highest: tuple[str, ...] = ()) -> dict[str, float]:
    return load_counters.values_of(page, list(names), list(highest))


def test_a_name_is_summed_over_its_labels() -> None:
    page = (
        b"# HELP e:a_total Words {with} braces 5\n# TYPE e:a_total counter\n"
        b'e:a_total{engine="0",model="a } b, \\"c\\" 9"} 40\ne:a_total{engine="1"} 2.5e1 1796012415000\r\n'
        b'e:a_total_created{engine="0"} 1.7e9\ne:a 7\nxe:a_total 9\n  e:a_total 1\n'
    )
    assert values(page, "e:a_total", "e:a", "e:b") == {"e:a_total": 65.0, "e:a": 7.0}


def test_of_what_is_no_counter_the_greatest_counts() -> None:
    assert values(b'e:s{r="0"} 3\ne:s{r="1"} 4\n', "e:s", highest=("e:s",)) == {"e:s": 4.0}


@pytest.mark.parametrize("value", ["NaN", "+Inf", "-1", "x", "1e999", "0x10", "\xff"])
def test_a_value_that_no_counter_can_have_makes_its_name_unknown(value: str) -> None:
    page = f'e:a{{r="0"}} 5\ne:a{{r="1"}} {value}\ne:b 1\n'.encode("latin-1")
    assert values(page, "e:a", "e:b") == {"e:b": 1.0}


def test_a_hostile_page_is_read_in_no_time_and_without_harm() -> None:
    page = b"e:a{" * 200_000 + b"\n" + b"e:a{}" + b"}" * 1_000_000 + b"\n" + b"e:a" + b" " * 1_000_000 + b"\n"
    assert values(page, "e:a") == {}


@dataclass
class Engine:
    """An engine with counters of its own: it counts a request when that has ended, and caches prompts."""

    say: Say
    caches: bool = True
    flushes: bool = True
    flush_reply: bytes = b""
    running: list[float] = field(default_factory=list[float])
    cached: set[str] = field(default_factory=set[str])
    usage_details: bool = False
    shows: bool = True
    generated: int = 0
    prompted: int = 0
    hits: int = 0
    flushed: int = 0

    def chat(self, asked: Any) -> Iterable[Any]:
        prompt = json.dumps(asked.body["messages"])
        words = len(prompt.split())
        found = words - 1 if prompt in self.cached else 0
        if self.caches:
            self.cached.add(prompt)
        # The page is asked for just after the first one; streams get out of step.
        yield 0.03 + 0.01 * (asked.connection % 4) if asked.measured else 0.0
        yield from self._pieces(asked, words, found)
        self.generated += asked.tokens
        self.prompted += words
        self.hits += found

    def _pieces(self, asked: Any, words: int, found: int) -> Iterable[bytes]:
        counts: dict[str, Any] = {"prompt_tokens": words, "completion_tokens": asked.tokens}
        if self.usage_details:
            counts["prompt_tokens_details"] = {"cached_tokens": found}
        chunk = json.dumps({"model": "m", "choices": [], "usage": counts}).encode()
        events = [*[self.say.delta()] * asked.tokens, self.say.finish(), chunk, b"[DONE]"]
        return [self.say.sized(b"".join(self.say.event(one) for one in events))]

    def page(self, _: Any) -> Iterable[bytes]:
        if not self.shows:
            return [self.say.sized(b'{"detail":"Not Found"}', "404 Not Found")]
        running = self.running.pop(0) if self.running else 0
        lines = [
            f"e:running {running:g}",
            "e:waiting 0",
            f'e:generated_total{{rank="0"}} {self.generated}',
            f"e:prompt_total {self.prompted}",
        ]
        lines += [f"e:hits_total {self.hits}"] if self.hits else []
        return [self.say.sized("\n".join([*lines, ""]).encode())]

    def flush(self, _: Any) -> Iterable[bytes]:
        self.flushed += 1
        if self.flushes:
            self.cached.clear()
        return [self.flush_reply or self.say.sized(b"Cache flushed.")]


Start = Callable[..., tuple[Engine, Any]]


@pytest.fixture
def start(serve: Any, say: Say, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Start a server with an engine behind it; keywords are the fields of Engine."""
    monkeypatch.setattr(load_counters, "LOOK_S", 0.01)
    monkeypatch.setattr(load_flush, "LOOK_S", 0.01)
    monkeypatch.setattr(load_flush, "_COUNTED_S", 0.2)

    def begin(**fields: Any) -> tuple[Engine, Any]:
        engine = Engine(say, **fields)
        paths = {"/metrics": engine.page, "/flush": engine.flush}
        return engine, serve(chat=engine.chat, measured=engine.chat, paths=paths)

    return begin


def ends(result: Any) -> dict[str, tuple[float | None, float | None]]:
    return {counter.name: (counter.before, counter.after) for counter in result.counters}


def test_the_counters_are_read_before_and_after_the_measurement(start: Start, bench: Any) -> None:
    _, server = start()
    result = bench(server.url, counters=COUNTERS, requests=3)
    assert result.outcome == "done"
    assert ends(result)["e:generated_total"] == (4, 304)
    assert set(ends(result)) == {"e:generated_total", "e:prompt_total"}
    assert result.others_running == 0
    assert result.flush == "not_asked"


def test_what_the_warm_up_had_under_way_is_told_apart(start: Start, bench: Any) -> None:
    _, server = start()
    result = bench(server.url, counters=COUNTERS, requests=60, concurrency=4, warmup_s=0.3, timeout_s=20.0)
    before, after = ends(result)["e:generated_total"]
    assert before is not None
    assert after is not None
    assert result.spilled is not None
    assert result.spilled.tokens == 100 * result.spilled.requests
    assert 1 <= result.spilled.requests <= 4
    # A request that ends while the page is being read may be on either side.
    assert abs(after - before - result.output_tokens - result.spilled.tokens) <= 400


def test_a_server_without_a_page_has_no_counters_and_that_is_said_once(start: Start, bench: Any) -> None:
    _, server = start(shows=False)
    result = bench(server.url, counters=COUNTERS)
    assert (result.outcome, result.counters, result.others_running) == ("done", (), None)
    assert result.sentence.count("the server shows no counters of its own without --show") == 1


def test_where_no_counters_are_named_none_are_read(start: Start, bench: Any) -> None:
    _, server = start()
    result = bench(server.url)
    assert (result.counters, result.others_running) == ((), None)
    assert "/metrics" not in {asked.path for asked in server.asked}


def test_a_page_beyond_all_measure_is_none(start: Start, bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_counters, "PAGE_LIMIT_BYTES", 20)
    _, server = start()
    assert bench(server.url, counters=COUNTERS).counters == ()


def test_requests_of_others_end_the_run_before_it_begins(start: Start, bench: Any) -> None:
    _, server = start(running=[3.0, 2.0])
    result = bench(server.url, counters=COUNTERS)
    assert (result.outcome, result.fault, result.completed, result.failures) == ("failed", "busy", 0, {})
    assert result.others_running == 2
    assert result.sentence == (
        f"2 other requests run on {server.url}: wait for their end, or measure all the same with --anyway"
    )
    assert not server.measurements


def test_requests_of_others_are_told_where_they_do_not_matter(start: Start, bench: Any) -> None:
    _, server = start(running=[1.0, 1.0])
    result = bench(server.url, counters=COUNTERS, despite_load=True)
    assert (result.outcome, result.others_running) == ("done", 1)


def test_a_health_probes_own_token_does_not_count(start: Start, bench: Any) -> None:
    _, server = start(running=[1.0, 0.0])
    result = bench(server.url, counters=COUNTERS)
    assert (result.outcome, result.others_running) == ("done", 0)


def test_a_gauge_that_stands_still_is_given_the_time_that_its_engine_needs(start: Start, bench: Any) -> None:
    settling = Counters(running=COUNTERS.running, names=COUNTERS.names, settle_s=0.2)
    _, server = start(running=[2.0] * 4)
    assert bench(server.url, counters=settling).outcome == "done"
    _, server = start(running=[2.0] * 1000)
    assert bench(server.url, counters=settling).fault == "busy"
    _, server = start(running=[2.0, 5.0] * 500)
    assert bench(server.url, counters=settling).fault == "busy"
    assert [asked.path for asked in server.asked].count("/metrics") == 2


@pytest.mark.parametrize("usage_details", [False, True])
def test_a_flush_is_confirmed_by_a_prompt_that_is_found_no_more(
    start: Start, bench: Any, usage_details: bool
) -> None:
    engine, server = start(usage_details=usage_details)
    result = bench(server.url, counters=COUNTERS, flush_cache=True)
    assert (result.outcome, result.flush, engine.flushed) == ("done", "confirmed", 1)
    assert result.flush_sentence.endswith(" tokens were found in it before, 0 after")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"flushes": False}, "in it again"),
        ({"caches": False}, "a prompt sent twice before was not found in it either"),
    ],
)
def test_a_server_is_not_believed_that_its_cache_is_empty(
    start: Start, bench: Any, fields: dict[str, Any], words: str
) -> None:
    _, server = start(**fields)
    result = bench(server.url, counters=COUNTERS, flush_cache=True)
    assert (result.outcome, result.flush) == ("done", "unconfirmed")
    assert words in result.flush_sentence


REFUSALS: dict[str, tuple[str, bytes, str]] = {
    "busy": ("400 Bad Request", b"requests are running", "400 requests are running"),
    "no such route": ("404 Not Found", b"{}", "/flush is not served without DEV=1"),
    "a failure told with 200": ("200 OK", b'{"success": false}', '200 {"success": false}'),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_told_in_the_servers_words(start: Start, bench: Any, say: Say, name: str) -> None:
    status, body, words = REFUSALS[name]
    _, server = start(flushes=False, flush_reply=say.sized(body, status))
    result = bench(server.url, counters=COUNTERS, flush_cache=True)
    assert (result.outcome, result.flush) == ("done", "refused")
    assert result.flush_sentence == "the server did not empty its prefix cache: " + words


def test_a_flush_is_asked_again_while_a_request_is_being_put_away(start: Start, bench: Any, say: Say) -> None:
    engine, server = start()
    busy: Callable[[Any], Iterable[bytes]] = lambda _: [say.sized(b"busy", "400 Bad Request")]  # noqa: E731
    server.paths["/flush"] = say.once(busy, engine.flush)
    assert bench(server.url, counters=COUNTERS, flush_cache=True).flush == "confirmed"


@pytest.mark.parametrize(
    ("counters", "fields", "words"),
    [
        (None, {}, "no known way"),
        (Counters(running=("e:running",), names=("e:prompt_total",)), {}, "no known way"),
        (COUNTERS, {"shows": False}, "whether other requests run is not known"),
        (COUNTERS, {"running": [1.0, 1.0]}, "other requests run"),
    ],
)
def test_a_cache_is_not_touched_where_that_is_not_safe(
    start: Start, bench: Any, counters: Counters | None, fields: dict[str, Any], words: str
) -> None:
    engine, server = start(**fields)
    result = bench(server.url, counters=counters, flush_cache=True, despite_load=True)
    assert (result.outcome, result.flush, engine.flushed) == ("done", "refused", 0)
    assert words in result.flush_sentence
