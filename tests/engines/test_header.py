"""What stands around and before a message is taken off, whoever put it there."""

import json

import pytest

from tui.engines.header import Heads
from tui.engines.marks import NOBODY, MarkKind, Speaker
from tui.engines.outer import Inner, without_outer
from tui.engines.phase import Phase
from tui.engines.reader import Heard, LineReader
from tui.engines.sglang import SGLANG
from tui.engines.vllm import VLLM

RECORD = "[2026-11-29 13:48:34 TP3] Load weight begin. avail mem=17.43 GB"
COLOURED = (
    "\x1b[0;36m(EngineCore pid=7)\x1b[0;0m INFO 11-29 17:20:17 [core.py:1] Loading weights took 2.5 seconds"
)
WRAPPERS = {
    "docker compose": "sglang-1  | {}",
    "podman": "[sglang]  | {}",
    "docker logs -t": "2026-11-29T13:48:34.123456789Z {}",
    "a container runtime's file": "2026-11-29T13:48:34.123456789Z stderr F {}",
    "a part of a long line": "2026-11-29T13:48:34.1Z stdout P {}",
    "kubectl": "[pod/sglang-0/server] {}",
    "journald": "Nov 29 13:48:34 host sglang[77]: {}",
    "journald with an ISO time": "2026-11-29T13:48:34+0000 host sglang[77]: {}",
    "a runner": "2026-11-29 13:48:34.901 | {}",
    "PyTorch's rank": "[rank3]: {}",
    "torchrun": "[default3]:{}",
    "mpirun": "[1,3]<stderr>:{}",
    "srun": " 3: {}",
    "a terminal's frame": "│ {}          │",
    "free text": "my-server {}",
    "two layers": "Nov 29 13:48:34 host podman[1]: sglang-1  | {}",
    "a frame in a container": "sglang-1  | │ {} │",
}


@pytest.mark.parametrize("form", WRAPPERS.values(), ids=WRAPPERS.keys())
def test_a_record_is_read_whatever_is_around_it(form: str) -> None:
    plain = LineReader(SGLANG).read(RECORD)
    assert plain.marks[0].phase is Phase.WEIGHTS
    assert plain.speaker.rank == "TP3"
    assert LineReader(SGLANG).read(form.format(RECORD)) == plain


@pytest.mark.parametrize("form", WRAPPERS.values(), ids=WRAPPERS.keys())
def test_a_bar_is_read_whatever_is_around_it(form: str) -> None:
    if form.startswith("my-"):
        pytest.skip("free text before a bar is the bar's own")
    bar = "Multi-thread loading shards:  94% Completed | 45/48 [01:00<00:05,  1.84s/it]"
    (mark,) = LineReader(SGLANG).read(form.format(bar)).marks
    assert mark.progress is not None
    assert (mark.progress.done, mark.progress.text) == (45, "Multi-thread loading shards")


@pytest.mark.parametrize("inner", [RECORD + "\n", RECORD])
def test_a_container_runtimes_json_holds_the_whole_line(inner: str) -> None:
    line = json.dumps({"log": inner, "stream": "stderr", "time": "2026-11-29T13:48:34.1Z"})
    assert LineReader(SGLANG).read(line) == LineReader(SGLANG).read(RECORD)


def test_colours_in_json_are_dropped() -> None:
    heard = LineReader(VLLM).read(json.dumps({"log": COLOURED + "\n"}))
    assert [mark.kind for mark in heard.marks] == [MarkKind.WITHIN]
    assert (heard.time, heard.speaker.role, heard.speaker.pid) == ("11-29 17:20:17", "EngineCore", 7)


def test_of_a_bar_in_json_the_last_drawing_stays() -> None:
    bars = "\r".join(f"Loading shards: {n}0%|x| {n}/9 [0<0]" for n in (1, 2, 3))
    (mark,) = LineReader(SGLANG).read(json.dumps({"log": bars + "\n"})).marks
    assert mark.progress is not None
    assert mark.progress.done == 3


@pytest.mark.parametrize("field", ["message", "msg", "event", "text"])
def test_a_json_logger_names_the_message_in_many_ways(field: str) -> None:
    fields = {"levelname": "INFO", "asctime": "2026-11-29 13:48:34", field: "Application startup complete."}
    heard = LineReader(VLLM).read(json.dumps(fields))
    assert [mark.kind for mark in heard.marks] == [MarkKind.READY]
    assert heard.time == "2026-11-29 13:48:34"


def test_rust_keeps_the_message_deeper() -> None:
    fields = {"timestamp": "2026-11-29T13:48:34Z", "level": "INFO", "fields": {"message": "Connected"}}
    assert without_outer(json.dumps(fields)) == Inner("Connected", "2026-11-29T13:48:34Z", "INFO")


def test_json_in_a_containers_file_is_read_too() -> None:
    message = json.dumps({"message": "Application startup complete.", "level": 20})
    (mark,) = LineReader(VLLM).read("2026-11-29T13:48:34.123456789Z stderr F " + message).marks
    assert mark.kind is MarkKind.READY
    (mark,) = LineReader(VLLM).read(json.dumps({"log": message + "\n", "stream": "stderr"})).marks
    assert mark.kind is MarkKind.READY


def test_a_traceback_in_json_tells_its_failure() -> None:
    frame = '  File "/x.py", line 1, in load_model'
    trace = f"Traceback (most recent call last):\n{frame}\ntorch.OutOfMemoryError: CUDA out of memory."
    heard = LineReader(VLLM).read(json.dumps({"message": "failed", "level": "error", "exc_info": trace}))
    assert [mark.kind for mark in heard.marks] == [MarkKind.FRAME, MarkKind.FAULT]


@pytest.mark.parametrize(
    "line", ["{", '{"a": 1}', '{"log": {"level": "x"}}', "{'message': 'x'}", '{"message": 5}', "{}"]
)
def test_what_only_looks_like_a_json_loggers_line_is_left(line: str) -> None:
    assert without_outer(line) is None


@pytest.mark.parametrize(
    "line", ["", "plain", "a | b c", "[x] y", "Error: | ", "12 apples", "3: line 5: 77 Killed"]
)
def test_ordinary_text_is_left_as_it_is(line: str) -> None:
    inner = without_outer(line)
    assert inner is None or line == "a | b c"


def test_a_quoted_record_is_no_record() -> None:
    ready = "[2026-11-29 13:48:34] The server is fired up and ready to roll!"
    for quote in ('{"prompt": "%s"}', "text='%s'", "say `%s`", "“%s”"):
        assert LineReader(SGLANG).read(quote % ready).marks == ()
    assert LineReader(SGLANG).read("native output" + ready).marks[0].kind is MarkKind.READY


def test_a_sentence_in_the_middle_of_a_message_is_no_mark() -> None:
    for message in (
        "Receive: obj=GenerateReqInput(text='The server is fired up and ready to roll!')",
        "What does The server is fired up and ready to roll! mean?",
        "I read [2026-11-29 13:48:34] The server is fired up and ready to roll!",
    ):
        heard = LineReader(SGLANG).read("[2026-11-29 13:48:34 TP0] " + message)
        assert not any(mark.kind is MarkKind.READY for mark in heard.marks)


def test_a_record_glued_behind_a_bar_or_native_output_gives_both_marks() -> None:
    bar = "Multi-thread loading shards: 100% Completed | 48/48 [01:06<00:00,  1.38s/it]"
    kinds = [mark.kind for mark in LineReader(SGLANG).read(bar + RECORD).marks]
    assert kinds == [MarkKind.PROGRESS, MarkKind.BEGINS]
    uvicorn = "INFO:     Application startup complete."
    kinds = [mark.kind for mark in LineReader(VLLM).read(bar.replace("Multi", "Multi") + uvicorn).marks]
    assert kinds == [MarkKind.PROGRESS, MarkKind.READY]
    assert LineReader(SGLANG).read("NCCL version 2.27" + RECORD).marks[0].phase is Phase.WEIGHTS


@pytest.mark.parametrize(
    "line",
    [
        "2026-11-29 13:48:34,123 - vllm.engine - INFO - Application startup complete.",
        "13:48:34 | INFO | vllm.engine:log:55 > Application startup complete.",
        "INFO vllm [api_server.py:7] Application startup complete.",
        "[2026-11-29 13:48:34] [INFO] [vllm] Application startup complete.",
    ],
)
def test_a_logger_of_the_users_own_form_is_understood(line: str) -> None:
    (mark,) = LineReader(VLLM).read(line).marks
    assert mark.kind is MarkKind.READY


def test_the_last_of_several_processes_speaks() -> None:
    line = "(EngineCore_DP0 pid=5) (Worker_TP1 pid=9) plain text"
    heads = Heads(VLLM.header)
    speaker, end = heads.processes(line)
    assert (speaker.rank, speaker.role, speaker.pid, line[end:]) == ("TP1", "Worker_TP1", 9, "plain text")
    assert heads.processes(line)[0] is speaker
    assert heads.processes("plain text") == (NOBODY, 0)


def test_known_heads_speak_for_whoever_they_name() -> None:
    reader = LineReader(SGLANG)
    lines = [f"[2026-11-29 13:48:34 TP{n % 3}] Load weight begin. avail mem=1 GB" for n in range(9)]
    assert [reader.read(line).speaker.rank for line in lines] == [f"TP{n % 3}" for n in range(9)]
    assert reader.read("[2026-11-29 13:48:34] Load weight begin. avail mem=1 GB").speaker == NOBODY


def test_endless_new_heads_are_forgotten_and_still_right() -> None:
    reader = LineReader(VLLM)
    for pid in range(3000):
        heard = reader.read(f"(Worker_TP{pid % 8} pid={pid}) INFO 11-29 17:20:17 [x.py:1] hello")
        assert heard == Heard((), "11-29 17:20:17", Speaker(f"TP{pid % 8}", f"Worker_TP{pid % 8}", pid, 2))
