"""The log's last lines: numbers, bars, levels."""

from tui.engines.phase import Phase
from tui.watch.log_buffer import LogBuffer


def texts(buffer: LogBuffer) -> list[str]:
    return [line.text for line in buffer.lines]


def shards(done: int) -> str:
    name = "Loading safetensors checkpoint shards"
    return f"{name}: {done * 25:3}% Completed | {done}/4 [00:0{done}<00:02,  1.1s/it]"


def captured(done: int, size: int) -> str:
    return (
        f"Capturing batches (bs={size} avail_mem=12.09 GB):  {done}%|▏  | {done}/36 [00:01<00:09,  2.0it/s]"
    )


def test_lines_are_numbered_from_one_and_given_out_once() -> None:
    buffer = LogBuffer()
    for text in ("a", "b", "c"):
        buffer.add(text)
    assert [(line.number, line.text) for line in buffer.after(1)] == [(2, "b"), (3, "c")]
    assert buffer.after(3) == []
    assert buffer.total == 3


def test_only_the_newest_lines_are_kept_and_numbers_go_on() -> None:
    buffer = LogBuffer(capacity=3)
    for number in range(10):
        buffer.add(str(number))
    assert [(line.number, line.text) for line in buffer.after(0)] == [(8, "7"), (9, "8"), (10, "9")]
    assert buffer.total == 10


def test_a_bar_that_ends_each_drawing_with_a_newline_is_one_line() -> None:
    buffer = LogBuffer()
    buffer.add("Load weight begin.")
    for done in range(5):
        buffer.add("", returned=True)
        buffer.add(shards(done))
    buffer.add("")
    assert texts(buffer) == ["Load weight begin."]
    assert buffer.held is not None
    assert buffer.held.text == shards(4)
    buffer.add("Load weight end.")
    assert texts(buffer) == ["Load weight begin.", shards(4), "Load weight end."]


def test_a_bar_that_redraws_with_carriage_returns_is_one_line() -> None:
    buffer = LogBuffer()
    for done, size in ((0, 256), (1, 248), (2, 240)):
        buffer.add(captured(done, size), returned=True)
    buffer.add("Capture cuda graph end.")
    assert texts(buffer) == [captured(2, 240), "Capture cuda graph end."]
    assert buffer.total == 2


def test_a_log_line_glued_to_a_bar_is_kept_whole() -> None:
    buffer = LogBuffer()
    buffer.add(captured(1, 248), returned=True)
    glued = captured(1, 248) + "[2026-11-29 13:48:34 TP0] Registering 2048 cuda graph addresses"
    buffer.add(glued)
    buffer.add(captured(2, 240), returned=True)
    buffer.settle()
    assert texts(buffer) == [glued, captured(2, 240)]


def test_two_bars_after_each_other_are_two_lines() -> None:
    buffer = LogBuffer()
    buffer.add(shards(4))
    buffer.add(captured(0, 256), returned=True)
    buffer.settle()
    assert texts(buffer) == [shards(4), captured(0, 256)]


def test_a_bar_whose_prefix_is_printed_alone_before_each_drawing_is_one_line() -> None:
    buffer = LogBuffer()
    for done in range(3):
        buffer.add("(Worker_TP0 pid=57) ")
        buffer.add(shards(done))
    buffer.settle()
    assert texts(buffer) == ["(Worker_TP0 pid=57) ", shards(2)]


def test_other_progress_that_returns_the_carriage_is_one_line() -> None:
    buffer = LogBuffer()
    for done in (10, 20, 30):
        buffer.add(f"fetched {done} of 100", returned=True)
    buffer.add("fetched all")
    assert texts(buffer) == ["fetched 30 of 100", "fetched all"]


def test_blank_lines_between_ordinary_lines_are_kept() -> None:
    buffer = LogBuffer()
    for text in ("a", "", "b"):
        buffer.add(text)
    assert texts(buffer) == ["a", "", "b"]


def test_the_mark_of_a_bars_first_drawing_stays_with_it() -> None:
    buffer = LogBuffer()
    buffer.add(captured(0, 256), returned=True, mark=Phase.CAPTURE)
    buffer.add(captured(1, 248), returned=True)
    buffer.settle()
    assert buffer.lines[-1].mark is Phase.CAPTURE
