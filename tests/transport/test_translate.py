"""From the agent's lines to events: strict, cleaned, bounded."""

import base64
import json
from typing import Any, get_args

import pytest

from tui import events
from tui.agent import wire
from tui.requests import LogPosition
from tui.signals import Evidence
from tui.transport.pipe import LinkFault
from tui.transport.translate import HostClock, Lines, Translator

NOTICE = {"kind": wire.NOTICE, "mono_s": 1.0, "wall_s": 2.0, "level": "info", "about": "x", "sentence": "y"}


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode()


def log(text: bytes, *, fresh: bool = False, **fields: object) -> bytes:
    message: dict[str, Any] = {
        "kind": wire.LOG_BYTES, "mono_s": 1.0, "wall_s": 2.0, "path": "/x", "device": 1, "inode": 2,
        "offset": 3, "fingerprint_bytes": 4, "fingerprint_crc": 5, "behind_bytes": 6, "fresh": fresh,
        "data": base64.b64encode(text).decode(),
    }  # fmt: skip
    return line(**(message | fields))


def test_a_message_becomes_its_event_with_this_machines_clock() -> None:
    event = Translator().translate(line(**NOTICE), 7.0)

    assert event == events.Notice(mono_s=1.0, wall_s=2.0, client_s=7.0, level="info", about="x", sentence="y")


def test_every_text_is_cleaned_names_too() -> None:
    process = {
        "pid": 1, "ppid": 0, "started_s": 0.0, "uid": 0, "user": "a\x1b[31mb", "state": "S", "title": "t\x07",
        "argv": ["\x1b]0;owned\x07x"], "matched": None, "cwd": None, "stdout": None, "stderr": None,
        "container": None, "environment": {"N\x1b[2JAME": "v\r\n"},
    }  # fmt: skip
    event = Translator().translate(
        line(kind=wire.PROCESSES, mono_s=1.0, wall_s=2.0, processes=[process], hidden=0), 0.0
    )

    assert isinstance(event, events.Processes)
    (cleaned,) = event.processes
    assert (cleaned.user, cleaned.title, cleaned.argv) == ("ab", "t", ["x"])
    assert cleaned.environment == {"NAME": "v"}


@pytest.mark.parametrize(
    "data",
    [
        b"no json",
        b"[1]",
        b"{}",
        b'{"kind":"notice"}',
        line(**{**NOTICE, "level": "shout"}),
        line(**{**NOTICE, "extra": 1}),
        line(kind=wire.LOG_BYTES, mono_s=1.0),
        log(b"x", data="not base64!"),
        b'{"kind":"notice","sentence":"\xff"}',
    ],
)
def test_an_invalid_message_is_an_error_with_its_text(data: bytes) -> None:
    with pytest.raises(LinkFault) as caught:
        Translator().translate(data, 0.0)

    assert (caught.value.fault, caught.value.retry) == ("agent", False)
    assert "the agent sent an invalid message" in caught.value.sentence
    assert data[:20].decode("utf-8", "replace") in caught.value.sentence


def test_a_kind_of_a_newer_agent_is_told_once() -> None:
    translator = Translator()
    newer = line(kind="hologram", mono_s=1.0, wall_s=2.0, depth=3)
    first, second = translator.translate(newer, 0.0), translator.translate(newer, 0.0)

    assert isinstance(first, events.Notice)
    assert first.sentence == "the agent sends 'hologram', which this version does not know"
    assert second is None


def test_log_bytes_become_lines_over_several_messages() -> None:
    translator = Translator()
    first = translator.translate(log("one\ntw\u00f6".encode()[:-1]), 0.0)
    second = translator.translate(log("\u00f6".encode()[-1:] + b"\n", offset=9), 0.5)

    assert isinstance(first, events.Log)
    assert isinstance(second, events.Log)
    assert (first.lines, first.path, first.offset, first.behind_bytes) == (["one"], "/x", 3, 6)
    assert (second.lines, second.tail, second.client_s) == (["tw\u00f6"], "", 0.5)
    assert translator.position == LogPosition(
        path="/x", device=1, inode=2, offset=9, fingerprint_bytes=4, fingerprint_crc=5
    )


def test_fresh_bytes_end_the_line_before_them() -> None:
    translator = Translator()
    translator.translate(log(b"cut sh"), 0.0)
    event = translator.translate(log(b"new\n", fresh=True), 0.0)

    assert isinstance(event, events.Log)
    assert event.lines == ["cut sh", "new"]


def test_secrets_in_log_lines_are_hidden() -> None:
    event = Translator().translate(log(b"ServerArgs(api_key='s3cr3t-value')\n"), 0.0)

    assert isinstance(event, events.Log)
    assert event.lines == ["ServerArgs(api_key='***')"]


def test_lines_come_out_of_any_pieces() -> None:
    lines = Lines()
    found = [each for piece in (b"a", b"b\nc\n\n", b"d") for each in lines.feed(piece)]

    assert found == [b"ab", b"c", b""]


def test_a_line_without_end_is_an_error() -> None:
    lines = Lines()

    def flood() -> None:
        for _ in range(257):
            lines.feed(bytes(65536))

    with pytest.raises(LinkFault, match="a line of more than"):
        flood()


def test_the_hosts_clock_is_told_by_the_quickest_message() -> None:
    clock = HostClock()
    mono_s, _, client_s = clock.now()
    assert mono_s == client_s

    for mono, client in ((105.0, 5.5), (106.0, 6.1), (107.0, 7.9)):
        clock.take(events.Pong(mono_s=mono, wall_s=mono + 1000, client_s=client, sent_s=0.0))
    mono_s, wall_s, client_s = clock.now()

    assert abs(mono_s - client_s - 99.9) < 1e-6
    assert abs(wall_s - mono_s - 1000.0) < 1e-6


def test_every_event_has_a_wire_name_that_the_translator_knows() -> None:
    kinds = {event.__struct_config__.tag for event in get_args(events.AnyEvent)}
    names = {value for name, value in vars(wire).items() if name.isupper() and isinstance(value, str)}

    assert kinds <= names


def test_stacks_and_what_ras_answered_are_cleaned_and_masked() -> None:
    secret = "hf_abcdefghijklmnopqrstuv"
    said = line(
        kind=wire.EVIDENCE, mono_s=1.0, wall_s=2.0, asked="stacks", found=True, pid=7,
        sentence=f"\x1b[31mtoken={secret}", stacks=[f"f\x1b]0;x\x07 ({secret}.py:1)"], lines=["a\u202eb"],
    )  # fmt: skip

    event = Translator().translate(said, 3.0)

    assert isinstance(event, Evidence)
    assert event.sentence == "token=***"
    assert event.stacks == ("f (***.py:1)",)
    assert event.lines == ("ab",)
