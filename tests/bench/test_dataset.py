"""Data sets in the shapes that are going round, and wrong lines named by their numbers."""

import json

import pytest

from tui.bench import dataset
from tui.bench.dataset import WrongData, prompts_of
from tui.requests import Prompt


def lines(*objects: object) -> list[bytes]:
    """Return each object as a line of JSON."""
    return [json.dumps(each).encode() for each in objects]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ({"prompt": "hello", "output_tokens": 7}, Prompt(turns=["hello"], output_tokens=7)),
        ({"prompt": "hello", "max_tokens": 9, "system": "s"},
         Prompt(turns=["hello"], system="s", output_tokens=9)),
        ({"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "a"},
                       {"role": "assistant", "content": None}, {"role": "user", "content": "b"}]},
         Prompt(turns=["a", "b"], system="s")),
        ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"text": "b"}]}]},
         Prompt(turns=["ab"])),
        ({"id": "x", "conversations": [{"from": "gpt", "value": "hi"}, {"from": "human", "value": "a"}]},
         Prompt(turns=["a"])),
        ({"turns": ["a", {"role": "user", "content": "b"}]}, Prompt(turns=["a", "b"])),
    ],
)  # fmt: skip
def test_every_shape_is_read(line: object, wanted: Prompt) -> None:
    assert prompts_of(lines(line)) == [wanted]


def test_empty_lines_are_none_and_the_order_stays() -> None:
    found = prompts_of([*lines({"prompt": "a"}), b"", b"  \r", *lines({"prompt": "b"})])

    assert [each.turns for each in found] == [["a"], ["b"]]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"nonsense", "line 2 is no JSON"),
        (b"[" * 5000, "line 2 is no JSON"),
        (b'{"prompt": "\xff"}', "line 2 is no JSON"),
        (b'{"prompt": "\\ud800"}', "line 2 is no JSON"),
        (b"[]", "line 2 is no JSON object"),
        (b'{"text": "a"}', "line 2 has none of prompt, messages, conversations, turns"),
        (b'{"prompt": "a", "turns": []}', "line 2 has two of"),
        (b'{"prompt": " "}', "line 2 has prompt in which the user says nothing"),
        (b'{"prompt": 7}', "line 2 has prompt with something that is no text"),
        (b'{"conversations": [{"from": "gpt", "value": "a"}]}', "in which the user says nothing"),
        (b'{"messages": {}}', "line 2 has messages that are no list"),
        (b'{"messages": ["a"]}', "line 2 has messages of which one is no object"),
        (b'{"messages": [{"role": "root", "content": "a"}]}', "said by nobody known: 'root'"),
        (b'{"messages": [{"role": "user", "content": [{"image": 1}]}]}', "something that is no text"),
        (b'{"prompt": "a", "max_tokens": 0}', "line 2 asks for 0 output tokens"),
        (b'{"prompt": "a", "max_tokens": true}', "line 2 asks for True output tokens"),
        (b'{"prompt": "a", "system": 1}', "line 2 has a system that is no text"),
    ],
)  # fmt: skip
def test_a_wrong_line_is_named_by_its_number(line: bytes, said: str) -> None:
    with pytest.raises(WrongData) as caught:
        prompts_of([*lines({"prompt": "a"}), line])

    assert said in str(caught.value)


def test_of_many_wrong_lines_some_are_named_and_the_rest_counted() -> None:
    with pytest.raises(WrongData, match=r"^line 1 is no JSON; wrong too: 2, 3, 4, 5 and 4 more$"):
        prompts_of([b"x"] * 9)


def test_nothing_in_it_and_too_much_of_it_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset, "MOST_LINES", 3)
    with pytest.raises(WrongData, match="holds no prompt"):
        prompts_of([b""])
    with pytest.raises(WrongData, match="has more than 3 lines: take the first 3"):
        prompts_of(lines(*({"prompt": "a"} for _ in range(4))))
