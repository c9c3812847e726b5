"""What the answers mean: model lists, generated tokens, keys."""

import json
import subprocess
import sys
from collections.abc import Sequence

import pytest
from probed_server import KEY, READY, Climb, Engine, Serve, Step, as_json, http, url

# Models.


def test_a_wrong_model_names_both_and_is_asked_on(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    climbing = climb(url(server), expected_model="big")
    assert 0.8 < climbing.round() <= 1.0
    models = climbing.last("models")
    assert (models.outcome, models.models) == ("wrong_model", ["tiny"])
    assert "big" in models.detail
    assert "tiny" in models.detail
    climbing.round()
    assert server.paths == ["/health", "/v1/models", "/v1/models"]
    engine.models = (as_json({"data": [{"id": "tiny"}, {"id": "big"}]}),)
    climbing.round()
    assert server.requests[-1].body["model"] == "big"


def test_a_path_is_listed_by_its_last_part(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.models = (as_json({"data": [{"id": "Qwen3-8B"}]}),)
    engine.token = (as_json({"model": "Qwen3-8B", "choices": [{"message": {"content": "Hello"}}]}),)
    server = serve(engine)
    assert climb(url(server), expected_model="/data/models/Qwen3-8B/").round() > 4
    assert server.requests[-1].body["model"] == "Qwen3-8B"


def test_a_server_that_lists_nothing_is_not_ready(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.models = (as_json({"data": []}),)
    climbing = climb(url(serve(engine)))
    climbing.round()
    assert climbing.outcomes[-1] == ("models", "empty")


def test_another_model_after_ready_is_told(climb: Climb, serve: Serve, engine: Engine) -> None:
    climbing = climb(url(serve(engine)), expected_model="tiny")
    climbing.round()
    engine.models = (as_json({"data": [{"id": "other"}]}),)
    assert climbing.round() <= 1.0
    assert climbing.outcomes[-1] == ("models", "wrong_model")


# Tokens.


def completion(**choice: object) -> Sequence[Step]:
    """Return a completion with one choice."""
    return (as_json({"model": "tiny", "choices": [choice]}),)


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (completion(message={"content": None, "reasoning_content": "Okay"}), "Okay"),
        (completion(message={"content": "", "reasoning": "So"}), "So"),
        ((as_json({"choices": [{"message": {"content": ""}}], "usage": {"completion_tokens": 1}}),), ""),
        ((http(b'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n'),), "Hi"),
    ],
)
def test_every_kind_of_generated_token_counts(
    climb: Climb, serve: Serve, engine: Engine, token: Sequence[Step], text: str
) -> None:
    engine.token = token
    climbing = climb(url(serve(engine)))
    climbing.round()
    assert (climbing.last("token").outcome, climbing.last("token").text) == ("ok", text)


@pytest.mark.parametrize(
    ("token", "outcome", "words"),
    [
        (completion(message={"content": ""}), "empty", "without a generated token"),
        ((as_json({"choices": [{"message": None}], "usage": {"completion_tokens": 0}}),), "empty", "without"),
        ((http(b"<html>"),), "empty", "without"),
        ((http(b"[[]]"),), "empty", "without"),
        ((as_json({"error": {"message": "engine dead", "code": 500}}),), "empty", "engine dead"),
        ((http(b"data: [DONE]\n\n"),), "empty", "without"),
        ((as_json({"error": {"message": "overloaded"}}, "429 Too Many Requests"),), "status", "overloaded"),
        (("hang",), "timeout", "no answer in time"),
    ],
)
def test_an_answer_without_a_token_is_not_ready(
    climb: Climb, serve: Serve, engine: Engine, token: Sequence[Step], outcome: str, words: str
) -> None:
    engine.token = token
    climbing = climb(url(serve(engine)), token_timeout_s=0.2)
    assert climbing.round() <= 1.0
    assert climbing.last("token").outcome == outcome
    assert words in climbing.last("token").detail


def test_a_model_without_chat_template_is_asked_for_a_plain_completion(
    climb: Climb, serve: Serve, engine: Engine
) -> None:
    engine.token = (as_json({"error": {"message": "no chat template"}}, "400 Bad Request"),)
    engine.others = {"/v1/completions": (as_json({"choices": [{"text": " world"}]}),)}
    server = serve(engine)
    climbing = climb(url(server))
    assert climbing.round() > 4
    assert climbing.outcomes[-2:] == [("token", "status"), ("token", "ok")]
    assert climbing.last("token").text == " world"
    assert server.requests[-1].body["prompt"]


def test_text_of_the_server_is_cut_and_printable(climb: Climb, serve: Serve, engine: Engine) -> None:
    engine.token = completion(message={"content": "\x1b[31m\u202e" + "x" * 10_000})
    climbing = climb(url(serve(engine)))
    climbing.round()
    text = climbing.last("token").text
    assert text is not None
    assert text.isprintable()
    assert len(text) <= 200


# Keys.


def test_a_server_that_wants_a_key_is_open_and_says_so(climb: Climb, serve: Serve) -> None:
    server = serve(Engine(key=KEY))
    climbing = climb(url(server))
    climbing.round()
    assert climbing.outcomes == [("port", "ok"), ("health", "ok"), ("models", "key_needed")]
    assert "key is needed" in climbing.last("models").detail
    assert "authorization" not in server.requests[-1].headers


def test_the_key_goes_to_the_server_and_nowhere_else(climb: Climb, serve: Serve) -> None:
    climbing = climb(url(serve(Engine(key=KEY))), api_key=KEY)
    climbing.round()
    assert climbing.outcomes == READY
    assert KEY not in json.dumps(climbing.messages)


def test_a_refusal_that_quotes_the_key_does_not_show_it(climb: Climb, serve: Serve) -> None:
    said = as_json({"error": {"message": f"Incorrect API key provided: {KEY}."}}, "429 Too Many Requests")
    climbing = climb(url(serve(Engine(token=(said,)))), api_key=KEY)
    climbing.round()
    assert "Incorrect API key" in climbing.last("token").detail
    assert KEY not in json.dumps(climbing.messages)


def test_a_wrong_key_is_said_to_be_wrong(climb: Climb, serve: Serve) -> None:
    climbing = climb(url(serve(Engine(key=KEY))), api_key="another")
    climbing.round()
    assert climbing.last("models").outcome == "key_needed"
    assert "does not take this" in climbing.last("models").detail


def test_a_key_that_would_begin_another_header_is_not_sent(climb: Climb, serve: Serve) -> None:
    server = serve(Engine(key=KEY))
    climbing = climb(url(server), api_key="a\r\nX-Evil: 1")
    climbing.round()
    assert climbing.last("models").outcome == "key_needed"
    assert "x-evil" not in server.requests[-1].headers


def test_the_key_of_the_servers_own_arguments_is_used(climb: Climb, serve: Serve) -> None:
    server = serve(Engine(key=KEY))
    script = "import sys; print(flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", script, "--api-key", KEY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        climbing = climb(url(server), process.pid, key_from_argv=True)
        climbing.round()
        process.communicate()
    assert climbing.outcomes == READY
    assert KEY not in json.dumps(climbing.messages)


def test_health_gets_the_key_only_where_it_wants_one(climb: Climb, serve: Serve, engine: Engine) -> None:
    server = serve(engine)
    engine.health = (http(b"", "401 Unauthorized"),)
    climbing = climb(url(server), api_key=KEY, ready_on="health")
    climbing.round()
    engine.health = (http(),)
    climbing.round()
    sent = [asked.headers.get("authorization") for asked in server.requests if asked.path == "/health"]
    assert sent == [None, f"Bearer {KEY}"]
