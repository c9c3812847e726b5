"""A benchmark from preflight to result: what is asked in which order, and a result in every case."""

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tui.agent.load import preflight as load_preflight
from tui.agent.load import stage as load_stage

Say = Any


def _script(*steps: bytes | str) -> Callable[[Any], Iterable[bytes | str]]:
    return lambda asked: steps


def _ignores_eos(asked: Any) -> bool:
    return "ignore_eos" in asked.body


def test_a_healthy_run_gives_consistent_figures(serve: Any, bench: Any, say: Say) -> None:
    def steady(asked: Any) -> Iterable[Any]:
        for at, piece in enumerate(say.whole(asked)):
            yield piece
            if at % 20 == 0:
                yield 0.002

    result = bench(serve(measured=steady).url, concurrency=4, requests=12)
    assert (result.outcome, result.model, result.measured_on) == ("done", "m", "this_machine")
    assert (result.completed, result.failed, result.failures) == (12, 0, {})
    assert (result.output_tokens, result.input_tokens) == (1200, 96)
    assert result.output_tokens_per_s == pytest.approx(1200 / result.duration_s)
    assert result.requests_per_s == pytest.approx(12 / result.duration_s)
    assert result.achieved_concurrency == pytest.approx(
        result.e2e_ms.mean * 12 / 1e3 / result.duration_s, rel=0.05
    )
    assert result.achieved_concurrency <= 4.001
    assert 0 < result.ttft_ms.p50 <= result.e2e_ms.p50
    assert result.ttft_ms.p99 is None
    assert result.itl_ms.p99 is not None
    assert result.client_cpu_fraction > 0
    assert result.sentence.startswith("12 of 12 requests answered")


def test_requests_are_streaming_greedy_and_of_the_length_asked(serve: Any, bench: Any) -> None:
    server = serve()
    bench(server.url, api_key="sk-1")
    body = server.measurements[0].body
    assert {key: body[key] for key in body if key != "messages"} == {
        "model": "m",
        "max_tokens": 100,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "ignore_eos": True,
    }
    assert {asked.headers.get("authorization") for asked in server.asked} == {"Bearer sk-1"}
    assert {asked.path for asked in server.asked} == {"/v1/models", "/v1/chat/completions"}


def test_no_two_prompts_of_two_runs_begin_alike(serve: Any, bench: Any) -> None:
    server = serve()
    for _ in range(2):
        bench(server.url, requests=40, input_tokens=64)
    prompts = [asked.body["messages"][0]["content"] for asked in server.measurements]
    assert len({tuple(prompt.split()[:8]) for prompt in prompts}) == 80


def test_the_number_of_words_follows_what_the_server_counts(serve: Any, bench: Any, say: Say) -> None:
    def counted(asked: Any) -> Iterable[bytes]:
        words = len(asked.body["messages"][0]["content"].split())
        tokens = asked.tokens
        events = [say.event(say.delta())] * tokens + [say.event(say.finish())]
        yield say.sized(b"".join([*events, say.event(say.usage(tokens, prompt=12 + words * 3 // 2))]))

    result = bench(serve(measured=counted, chat=counted).url, input_tokens=600)
    assert result.input_tokens / result.completed == pytest.approx(600, rel=0.02)


def test_the_preflight_takes_the_first_listed_model_and_one_request(serve: Any, bench: Any) -> None:
    server = serve(models=["m", "other"])
    assert bench(server.url).model == "m"
    first, second, *_ = server.asked
    assert (first.method, first.path) == ("GET", "/v1/models")
    assert second.tokens == load_preflight.PREFLIGHT_TOKENS


def test_a_preflight_that_fails_is_a_failed_result(serve: Any, bench: Any, say: Say) -> None:
    result = bench(serve(chat=say.refusing("503 Service Unavailable")).url)
    assert (result.outcome, result.completed, result.failures) == ("failed", 0, {"http_503": 1})
    assert result.sentence.endswith("is not ready (503): loading model")
    assert (result.output_tokens, result.duration_s, result.ttft_ms.mean) == (None, None, None)


def test_a_run_in_which_all_fails_is_a_failed_result(serve: Any, bench: Any, say: Say) -> None:
    result = bench(serve(measured=say.refusing("500 Internal Server Error")).url, requests=3)
    assert (result.outcome, result.failed, result.failures) == ("failed", 3, {"http_500": 3})
    assert result.sentence.startswith("no request succeeded: ")


def test_a_run_is_given_up_when_the_server_stays_away(
    serve: Any, bench: Any, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_stage, "GIVE_UP_S", 0.4)
    server = serve(down_s=1000.0)
    answered: list[Any] = []

    def dying(asked: Any) -> Iterable[Any]:
        answered.append(asked)
        return say.whole(asked) if len(answered) < 6 else ["restart"]

    server.measured = dying
    result = bench(server.url, requests=10_000, concurrency=2)
    assert result.outcome == "failed"
    assert 3 <= result.completed <= 5
    assert 10 <= result.failed < 100
    assert "stopped early" in result.sentence


def test_a_server_whose_streams_fail_at_once_is_not_hammered(
    serve: Any, bench: Any, say: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status is 200 and the error stands inside: without a pause that is a thousand requests a second."""
    monkeypatch.setattr(load_stage, "GIVE_UP_S", 1.0)
    error = json.dumps({"error": {"message": "no memory left"}}).encode()

    def failing(_: Any) -> Iterable[Any]:
        yield say.head("200 OK", "Transfer-Encoding: chunked")
        yield say.chunk(say.event(error)) + say.chunk(say.event(b"[DONE]")) + b"0\r\n\r\n"

    server = serve(measured=failing)
    result = bench(server.url, requests=10_000)
    assert set(result.failures) == {"stream_error"}
    assert load_stage.GIVE_UP_FAILURES <= result.failed < 40


def test_refused_connections_are_named(bench: Any, free_port: int) -> None:
    result = bench(f"http://127.0.0.1:{free_port}")
    assert (result.outcome, result.failures) == ("failed", {"refused": 1})
    assert "refuses connections" in result.sentence


@pytest.mark.parametrize(
    ("url", "fault"),
    [("http://no-such-host.invalid:1", "dns"), ("http://127.0.0.1:1/x", "refused")],
)
def test_a_host_that_cannot_be_reached_is_a_failed_result(bench: Any, url: str, fault: str) -> None:
    assert bench(url).failures == {fault: 1}


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://h:port", "", "http://[::1"])
def test_what_is_no_url_is_a_failed_result(bench: Any, url: str) -> None:
    result = bench(url)
    assert (result.outcome, result.failed) == ("failed", 0)
    assert result.sentence


@pytest.mark.parametrize("name", ["concurrency", "requests", "input_tokens", "output_tokens"])
def test_numbers_below_one_are_a_failed_result(bench: Any, name: str) -> None:
    result = bench("http://127.0.0.1:1", **{name: 0})
    assert "must be at least 1" in result.sentence


def test_a_model_that_is_not_listed_is_named_with_those_that_are(serve: Any, bench: Any) -> None:
    result = bench(serve(models=["a", "b"]).url, model="c")
    assert (result.outcome, result.failures) == ("failed", {"wrong_model": 1})
    assert "it lists a, b, not c" in result.sentence


def test_a_server_that_lists_no_model_asks_for_one_or_takes_the_named_one(
    serve: Any, bench: Any, say: Say
) -> None:
    server = serve(models=[])
    assert "name one with --model" in bench(server.url).sentence
    assert bench(server.url, model="m").completed == 2
    server.models_reply = say.sized(b"{}", "404 Not Found")
    assert bench(server.url, model="m").completed == 2
    assert bench(server.url).failures == {"http_404": 1}


def test_names_that_are_no_text_still_make_a_result_that_can_be_read(
    serve: Any, bench: Any, say: Say
) -> None:
    server = serve()
    server.models_reply = say.sized(b'{"data": [{"id": "a\\ud800"}]}')
    result = bench(server.url)
    assert (result.outcome, result.model, result.failures) == ("failed", "a?", {"wrong_model": 1})
    server.models_reply = say.sized(b'{"error": {"message": "b\\udfff"}}', "401 Unauthorized")
    assert bench(server.url).outcome == "failed"


@pytest.mark.parametrize("before", ["", "x" * 180])
def test_a_key_that_a_server_repeats_is_not_told(serve: Any, bench: Any, say: Say, before: str) -> None:
    words = before + " Incorrect API key provided: " + "sk-" + "a1" * 20
    refusal = json.dumps({"error": {"message": words}}).encode()
    refused = serve()
    refused.models_reply = say.sized(refusal, "403 Forbidden")
    cut = serve(measured=_script(say.head(), say.event(refusal), "close"))
    for result in (bench(refused.url), bench(cut.url)):
        assert result.completed == 0
        assert "Incorrect" in result.sentence or before
        assert "sk-" not in result.sentence


def test_a_model_with_the_name_of_a_deep_path_is_that_model(serve: Any, bench: Any, say: Say) -> None:
    name = "/" + "models/" * 100
    rename = (b'"model": "m"', b'"model": ' + json.dumps(name).encode())

    def reply(asked: Any) -> Iterable[bytes | str]:
        events = [*[say.delta()] * asked.tokens, say.finish(), say.usage(asked.tokens), b"[DONE]"]
        yield from (say.head(), *(say.event(each).replace(*rename) for each in events), "close")

    result = bench(serve(models=[name], chat=reply, measured=reply).url)
    assert (result.outcome, result.model, result.failures) == ("done", name, {})


def test_a_missing_api_key_is_said(serve: Any, bench: Any, say: Say) -> None:
    server = serve()
    server.models_reply = say.sized(b'{"error": "no key"}', "401 Unauthorized")
    result = bench(server.url, model="m")
    assert result.failures == {"http_401": 1}
    assert "--api-key-env" in result.sentence


def test_a_strict_server_is_asked_without_the_fields_it_refuses(serve: Any, bench: Any, say: Say) -> None:
    strict = say.refusing("400 Bad Request", when=_ignores_eos)
    server = serve(chat=strict, measured=strict)
    assert bench(server.url).completed == 2
    assert "stream_options" in server.measurements[0].body


def test_a_prompt_that_the_server_refuses_is_told_in_its_words(serve: Any, bench: Any, say: Say) -> None:
    result = bench(serve(chat=say.refusing("400 Bad Request")).url)
    assert result.failures == {"http_400": 1}
    assert "loading model" in result.sentence


@pytest.mark.parametrize("path", ["/prefix", "/prefix/", "/prefix/v1", "/prefix/v1/"])
def test_a_url_with_a_path_is_taken_as_a_prefix(serve: Any, bench: Any, path: str) -> None:
    server = serve()
    assert bench(server.url + path).completed == 2
    assert {asked.path for asked in server.asked} == {"/prefix/v1/models", "/prefix/v1/chat/completions"}


def test_a_cancelled_run_is_a_result_too(serve: Any, bench: Any) -> None:
    result = bench(serve().url, cancel=True)
    assert (result.outcome, result.completed) == ("cancelled", 0)
    assert result.sentence == "nothing was measured yet"


def test_more_streams_than_requests_are_not_opened(serve: Any, bench: Any) -> None:
    server = serve()
    assert bench(server.url, concurrency=50, requests=3).completed == 3
    assert len({asked.connection for asked in server.asked}) == 3
