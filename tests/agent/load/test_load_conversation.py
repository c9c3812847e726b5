"""What is asked in conversations, with a shared prefix, and from a data set."""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from tui.agent.load.dataset import DataSet, WrongPrompt
from tui.requests import Prompt

Say = Any
Messages = list[dict[str, str]]


def answering(say: Say, answer: Callable[[Any], str]) -> Callable[[Any], Iterator[bytes]]:
    """Reply with one text, as long as it is asked for."""

    def reply(asked: Any) -> Iterator[bytes]:
        deltas = [say.delta(piece) for piece in answer(asked)]
        ends = [say.finish(), say.usage(asked.tokens), b"[DONE]"]
        yield say.sized(b"".join(say.event(one) for one in [*deltas, *ends]))

    return reply


def asked_of(server: Any) -> list[Messages]:
    return [asked.body["messages"] for asked in server.measurements]


def roles(messages: Messages) -> list[str]:
    return [message["role"] for message in messages]


def test_a_turn_has_all_before_it_in_its_prompt_with_the_servers_own_answers(
    serve: Any, bench: Any, say: Say
) -> None:
    server = serve(measured=answering(say, lambda asked: f'"{len(asked.body["messages"])}"\n\u2028é'))
    result = bench(server.url, requests=6, turns=3, input_tokens=20)

    assert result.completed == 6
    first, second, third, *others = asked_of(server)
    assert roles(third) == ["user", "assistant", "user", "assistant", "user"]
    assert third[:3] == second
    assert second[:1] == first
    assert [third[at]["content"] for at in (1, 3)] == ['"1"\n\u2028é', '"3"\n\u2028é']
    assert len({message["content"] for message in third if message["role"] == "user"}) == 3
    assert [len(messages) for messages in others] == [1, 3, 5]
    assert others[0] != first


def test_reasoning_is_not_given_back(serve: Any, bench: Any, say: Say) -> None:
    def thinking(asked: Any) -> Iterator[bytes]:
        deltas = [say.delta(choice={"delta": {"reasoning_content": "hm"}}), say.delta("yes")]
        ends = [say.finish(), say.usage(asked.tokens), b"[DONE]"]
        yield say.sized(b"".join(say.event(one) for one in [*deltas, *ends]))

    server = serve(measured=thinking)
    assert bench(server.url, turns=2).completed == 2
    assert asked_of(server)[1][1] == {"role": "assistant", "content": "yes"}


def test_each_stream_holds_a_conversation_of_its_own(serve: Any, bench: Any, say: Say) -> None:
    server = serve(measured=answering(say, lambda asked: "from " + asked.body["messages"][0]["content"][:30]))
    bench(server.url, requests=24, turns=4, concurrency=3, input_tokens=20)

    asked = asked_of(server)
    lengths: dict[str, list[int]] = {}
    for messages in asked:
        lengths.setdefault(messages[0]["content"], []).append(len(messages))
    assert len(asked) == 24
    assert all(found == [1, 3, 5, 7][: len(found)] for found in lengths.values())
    # Streams share the requests: only the last conversation of each may have been left.
    assert sum(len(found) < 4 for found in lengths.values()) <= 3
    for messages in asked:
        for message in messages[1::2]:
            assert message["content"] == "from " + messages[0]["content"][:30]


def test_a_turn_that_fails_ends_its_conversation(serve: Any, bench: Any, say: Say) -> None:
    def failing(asked: Any) -> Iterable[bytes]:
        if len(asked.body["messages"]) == 3:
            return [say.sized(b'{"error": {"message": "no room"}}', "500 Internal Server Error")]
        return answering(say, lambda _: "ok")(asked)

    server = serve(measured=failing)
    result = bench(server.url, requests=6, turns=3)
    assert result.failures == {"http_500": 3}
    assert [len(messages) for messages in asked_of(server)] == [1, 3, 1, 3, 1, 3]


def test_an_error_inside_an_answer_ends_its_conversation_too(serve: Any, bench: Any, say: Say) -> None:
    def cut(_: Any) -> list[bytes]:
        return [say.sized(say.event(say.delta()) + say.event(b'{"error": "gone"}'))]

    server = serve(measured=say.once(cut, answering(say, lambda _: "ok")))
    assert bench(server.url, requests=3, turns=3).failures == {"stream_error": 1}
    assert [len(messages) for messages in asked_of(server)] == [1, 1, 3]


def test_a_conversation_of_the_warm_up_ends_with_it(serve: Any, bench: Any, say: Say) -> None:
    server = serve()
    bench(server.url, requests=4, turns=2, warmup_s=0.2)
    # One short request, the warm-up, then four that are measured: two conversations of two turns.
    lengths = [len(asked.body["messages"]) for asked in server.asked if asked.method == "POST"]
    assert lengths[-4:] == [1, 3, 1, 3]


def test_a_shared_prefix_is_the_same_in_a_run_and_another_in_the_next(serve: Any, bench: Any) -> None:
    server = serve()
    for _ in range(2):
        bench(server.url, requests=10, input_tokens=60, prefix_tokens=40)
    words = [messages[0]["content"].split() for messages in asked_of(server)]
    assert {len(one) for one in words} == {60}
    first, second = words[:10], words[10:]
    assert len({tuple(one[:40]) for one in first}) == len({tuple(one[:40]) for one in second}) == 1
    assert first[0][:40] != second[0][:40]
    assert len({tuple(one[40:48]) for one in words}) == 20


def test_the_prefix_keeps_its_share_where_the_server_counts_more_tokens_than_words(
    serve: Any, bench: Any, say: Say
) -> None:
    def counted(asked: Any) -> Iterable[bytes]:
        words = len(asked.body["messages"][0]["content"].split())
        ends = [say.finish(), say.usage(asked.tokens, prompt=16 + 2 * words), b"[DONE]"]
        return [say.sized(b"".join(say.event(one) for one in [say.delta(), *ends]))]

    server = serve(measured=counted, chat=counted)
    bench(server.url, requests=5, input_tokens=400, prefix_tokens=300)
    words = [messages[0]["content"].split() for messages in asked_of(server)]
    assert len(words[0]) == 192
    assert len({tuple(one[:144]) for one in words}) == 1
    assert len({tuple(one[:146]) for one in words}) > 1


def test_a_prompt_that_is_all_prefix_is_one_prompt(serve: Any, bench: Any) -> None:
    server = serve()
    bench(server.url, requests=3, input_tokens=30, prefix_tokens=30)
    assert len({messages[0]["content"] for messages in asked_of(server)}) == 1


PROMPTS = [
    Prompt(turns=['say "hi"\\\n', "again"], system="be \u2028 brief \N{ROCKET}"),
    Prompt(turns=["two"], output_tokens=100),
    Prompt(turns=["three"]),
]


def test_a_data_set_is_used_in_order_over_and_over(serve: Any, bench: Any) -> None:
    server = serve()
    result = bench(server.url, requests=7, data="d", prompts=PROMPTS)
    assert result.completed == 7
    first, second, third, again, *_ = asked_of(server)
    assert first == [
        {"role": "system", "content": "be \u2028 brief \N{ROCKET}"},
        {"role": "user", "content": 'say "hi"\\\n'},
    ]
    assert second == [{"role": "user", "content": "two"}]
    assert third == [{"role": "user", "content": "three"}]
    assert again == first


def test_a_seed_shuffles_a_data_set_always_in_the_same_way(serve: Any, bench: Any) -> None:
    prompts = [Prompt(turns=[f"number {n}"]) for n in range(20)]
    server = serve()
    for seed in (0, 7, 7):
        bench(server.url, requests=20, data="d", prompts=prompts, seed=seed)
    said = [messages[0]["content"] for messages in asked_of(server)]
    assert said[:20] == [f"number {n}" for n in range(20)]
    assert said[20:40] != said[:20]
    assert said[20:40] == said[40:]
    assert sorted(said[20:40]) == sorted(said[:20])


def test_a_prompt_may_say_how_long_its_answer_is_to_be(serve: Any, bench: Any) -> None:
    server = serve()
    prompts = [
        Prompt(turns=["a"], output_tokens=7),
        Prompt(turns=["b"]),
        Prompt(turns=["c"], output_tokens=150),
    ]
    result = bench(server.url, requests=3, data="d", prompts=prompts)
    assert (result.completed, result.failures) == (3, {})
    assert result.output_tokens == 7 + 100 + 150
    assert [asked.tokens for asked in server.asked[-3:]] == [7, 100, 150]


def test_an_answer_shorter_than_its_prompt_asked_for_is_short(serve: Any, bench: Any, say: Say) -> None:
    def stingy(asked: Any) -> list[bytes]:
        ends = [say.finish(), say.usage(asked.tokens // 2), b"[DONE]"]
        return [say.sized(b"".join(say.event(one) for one in [say.delta(), *ends]))]

    server = serve(chat=stingy, measured=stingy)
    result = bench(server.url, data="d", prompts=[Prompt(turns=["a"], output_tokens=8)])
    assert result.failures == {"short": 2}


def test_a_data_sets_conversation_ends_with_its_turns_or_with_those_asked_for(
    serve: Any, bench: Any, say: Say
) -> None:
    prompts = [Prompt(turns=["a", "b", "c"], system="s"), Prompt(turns=["d"])]
    server = serve(measured=answering(say, lambda _: "ok"))
    bench(server.url, requests=6, data="d", prompts=prompts, turns=2)
    users = [[one["content"] for one in messages if one["role"] == "user"] for messages in asked_of(server)]
    assert users == [["a"], ["a", "b"], ["d"], ["a"], ["a", "b"], ["d"]]


def test_the_warm_up_leaves_no_prompt_of_the_data_set_in_a_cache(serve: Any, bench: Any) -> None:
    server = serve()
    bench(server.url, requests=3, data="d", prompts=PROMPTS, warmup_s=0.2)
    asked = [one.body["messages"] for one in server.asked if one.method == "POST"]
    before = [messages[0]["content"] for messages in asked[:-3]]
    assert len(before) > 1
    assert not [text for text in before if text.startswith(("be ", "say", "two", "three"))]
    assert [text for text in before if text.endswith(("\N{ROCKET}", "two", "three"))]


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("text", "prompt 2 of the data set is no object"),
        ({}, "has no turns"),
        ({"turns": []}, "has no turns"),
        ({"turns": "text"}, "has no turns"),
        ({"turns": ["a", ""]}, "a turn or a system without text"),
        ({"turns": [7]}, "a turn or a system without text"),
        ({"turns": ["a"], "system": 7}, "a turn or a system without text"),
        ({"turns": ["a"], "output_tokens": 0}, "asks for no number of output tokens"),
        ({"turns": ["a"], "output_tokens": "9"}, "asks for no number of output tokens"),
        ({"turns": ["a"], "output_tokens": True}, "asks for no number of output tokens"),
    ],
)
def test_a_prompt_of_a_wrong_shape_is_named(prompt: object, words: str) -> None:
    with pytest.raises(WrongPrompt, match=words):
        DataSet([{"turns": ["good"]}, prompt], seed=0, salt=str)


def test_lone_surrogates_of_a_data_set_become_what_a_server_takes() -> None:
    data = DataSet([{"turns": ["a\ud800b"]}], seed=0, salt=str)
    assert json.loads(data.message(0, 0)) == {"role": "user", "content": "a?b"}


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"turns": 0}, "turns must be at least 1"),
        ({"prefix_tokens": 9}, "of 8 input tokens, 9 cannot be shared"),
        ({"prefix_tokens": -1}, "of 8 input tokens, -1 cannot be shared"),
        ({"data": "chat.jsonl"}, "the data set chat.jsonl came without its prompts"),
        ({"data": "d", "prompts": [Prompt(turns=[])]}, "prompt 1 of the data set has no turns"),
    ],
)
def test_a_workload_that_cannot_be_is_a_failed_result(bench: Any, fields: dict[str, Any], words: str) -> None:
    result = bench("http://127.0.0.1:1", **fields)
    assert (result.outcome, result.fault, result.failures) == ("failed", "bad_request", {})
    assert words in result.sentence
