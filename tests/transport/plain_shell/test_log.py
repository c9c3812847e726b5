"""How a log is read through a shell: block by block, from where, and what is told when much is left out."""

import asyncio
import json
import re
from contextlib import aclosing
from pathlib import Path

import msgspec
import pytest

from tui.agent import wire
from tui.events import Gap, LogSource
from tui.requests import FollowRequest, WatchRequest
from tui.transport.bootstrap import Started
from tui.transport.local import local_opener
from tui.transport.pipe import Pipe
from tui.transport.plain_shell.clock import ShellClock
from tui.transport.plain_shell.connection import ShellConnection
from tui.transport.plain_shell.log import TOLD_BYTES, Message, ShellLog
from tui.transport.plain_shell.script import guard
from tui.transport.translate import LogBytes
from tui.transport.wake import Wake

FLOOD = b"".join(b"line %06d\n" % number for number in range(30_000))
UNFINISHED = b"half a li"


class Shell:
    """Answers a log's commands as the shell does, of a file whose bytes are ``data`` (None: no file)."""

    def __init__(self, data: bytes | None = b"") -> None:
        self.data = data
        self.told: list[Message] = []
        self.asked: list[str] = []
        self.log = ShellLog(self.asked.append, self.told.append, ShellClock())
        self._at = 0
        self.log.follow(FollowRequest(pid=None, log_path="/a"))

    def answer(self) -> None:
        """Let the log ask for what is due, and answer all of it."""
        self.log.step(float("inf"))
        asked, self.asked[:] = list(self.asked), []
        for command in asked:
            letter, *words = command.split(" ")
            if letter == "o":
                self._at = 0
                self.log.opened("missing" if self.data is None else f"open 7 {len(self.data)}")
            else:
                self._piece(int(words[0]), int(words[1]))

    def answer_all(self) -> None:
        """Answer until the log has nothing more to say."""
        seen = -1
        while seen != len(self.told):
            seen = len(self.told)
            for _ in range(12):
                self.answer()

    def _piece(self, ahead: int, blocks: int) -> None:
        data = self.data or b""
        begin = self._at + ahead
        self._at = min(len(data), begin + blocks * 65536)
        self.log.begins()
        self.log.data(data[begin : self._at])
        self.log.piece_over(f"7 {len(data)} 7 {len(data)}")

    @property
    def pieces(self) -> list[LogBytes]:
        """What was told of the log's bytes."""
        return [each for each in self.told if isinstance(each, LogBytes)]

    @property
    def gaps(self) -> list[Gap]:
        """What was told to be missing."""
        return [each for each in self.told if isinstance(each, Gap)]


def behind() -> Shell:
    """Return a shell whose log is far behind."""
    shell = Shell(b"first\n")
    shell.answer_all()
    shell.data = b"first\n" + FLOOD + UNFINISHED
    while not shell.pieces[-1].behind_bytes:
        shell.answer()
    return shell


def test_asked_to_skip_it_goes_on_at_the_last_line_and_tells_what_is_left_out() -> None:
    shell = behind()
    read = sum(len(piece.data) for piece in shell.pieces)
    shell.told.clear()
    shell.log.skip()
    shell.answer()
    shell.data = (shell.data or b"") + b"ne\nnew\n"
    shell.answer_all()

    gap = shell.gaps[0]
    assert (gap.why, gap.lost_bytes) == ("skipped", len(b"first\n" + FLOOD) - read)
    assert gap.sentence.endswith("of /a are not read: skipped to its end, as asked")
    assert b"".join(piece.data for piece in shell.pieces) == UNFINISHED + b"ne\nnew\n"
    assert [piece.fresh for piece in shell.pieces] == [True, False]
    assert [piece.behind_bytes for piece in shell.pieces] == [0, 0]
    assert shell.pieces[-1].offset == len(shell.data)


def test_a_skip_that_ends_with_a_whole_line_tells_that_nothing_is_behind_any_more() -> None:
    shell = behind()
    shell.data = b"first\n" + FLOOD
    shell.told.clear()
    shell.log.skip()
    shell.answer_all()

    assert len(shell.gaps) == 1
    assert [(piece.data, piece.behind_bytes) for piece in shell.pieces][-1] == (b"", 0)


def test_where_nothing_is_behind_a_skip_leaves_nothing_out() -> None:
    shell = Shell(b"first\n")
    shell.answer_all()
    shell.log.skip()
    shell.answer_all()
    shell.data = b"first\nsecond\n"
    shell.answer_all()

    assert shell.gaps == []
    assert b"".join(piece.data for piece in shell.pieces) == b"first\nsecond\n"


def test_a_skip_while_the_backlog_is_fetched_reads_on_at_the_end() -> None:
    shell = Shell(FLOOD * 4 + UNFINISHED)
    shell.answer()
    shell.answer()
    shell.log.skip()
    shell.answer_all()

    assert [(gap.why, gap.lost_bytes) for gap in shell.gaps] == [("skipped", len(FLOOD) * 4)]
    assert b"".join(piece.data for piece in shell.pieces) == UNFINISHED


def test_a_log_that_the_shell_may_not_read_is_tried_again() -> None:
    shell = Shell()
    shell.log.step(0.0)
    shell.log.opened("unreadable")

    (told,) = shell.told
    assert isinstance(told, LogSource)
    assert (told.state, told.sentence) == ("unreadable", "/a cannot be read by this user; trying again")


def test_what_has_come_is_told_piece_by_piece_so_that_samples_find_their_way_between() -> None:
    shell = Shell(FLOOD)
    while not shell.log.has_more:
        shell.answer()
    for _ in range(5):
        told = len(shell.pieces)
        shell.log.step(float("inf"))
        assert (len(shell.pieces), shell.asked) == (told + 1, [])


@pytest.mark.parametrize("grows", [False, True])
def test_a_skip_leaves_out_what_has_come_and_is_not_told_yet(grows: bool) -> None:
    shell = Shell(FLOOD if grows else FLOOD + UNFINISHED)
    shell.answer()
    if grows:  # while it is fetched
        shell.data = FLOOD * 2 + UNFINISHED
    while not shell.log.has_more:
        shell.answer()
    told = sum(len(piece.data) for piece in shell.pieces)
    shell.log.skip()
    shell.answer_all()
    shell.data = (shell.data or b"") + b"ne\n"
    shell.answer_all()

    (gap,) = shell.gaps
    assert (gap.why, gap.lost_bytes) == ("skipped", len(FLOOD) * (1 + grows) - told)
    assert b"".join(piece.data for piece in shell.pieces)[told:] == UNFINISHED + b"ne\n"
    assert shell.pieces[-1].behind_bytes == 0


def test_what_was_in_the_file_before_is_told_as_late_and_what_comes_is_not() -> None:
    shell = Shell(FLOOD)
    shell.answer_all()
    old = len(shell.pieces)
    shell.data = FLOOD + b"new\n"
    shell.answer_all()

    assert (shell.pieces[0].data, shell.pieces[0].behind_bytes) == (b"", len(FLOOD))
    assert b"".join(piece.data for piece in shell.pieces) == shell.data
    assert [bool(piece.behind_bytes) for piece in shell.pieces] == [True] * (old - 1) + [False] * 2
    assert max(len(piece.data) for piece in shell.pieces) <= TOLD_BYTES


def test_the_lines_of_a_file_that_was_waited_for_are_new() -> None:
    shell = Shell(None)
    shell.answer()
    shell.data = b"first\n"
    shell.answer_all()

    assert [(piece.data, piece.behind_bytes) for piece in shell.pieces] == [(b"first\n", 0)]


class Kept:
    """A pipe that keeps what goes through it."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._written = b""
        self._read = b""

    @property
    def waits(self) -> int:
        """How many blocks are asked for and have not come yet."""
        return len(re.findall(rb"\nr \d", self._written)) - len(re.findall(rb"[0-9a-f]{32} e ", self._read))

    def write(self, data: bytes) -> None:
        """Keep it and pass it on."""
        self._written += data
        self._pipe.write(data)

    async def drain(self) -> None:
        """Pass it on."""
        await self._pipe.drain()

    async def read(self, size: int) -> bytes:
        """Keep what has come."""
        data = await self._pipe.read(size)
        self._read += data
        return data

    async def close(self) -> int | None:
        """Pass it on."""
        return await self._pipe.close()

    def errors(self) -> bytes:
        """Pass it on."""
        return self._pipe.errors()


async def test_the_next_block_is_asked_for_once_the_last_was_taken_in(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(b"")
    pipe = Kept(await local_opener()(guard("n", 15.0)))
    connection = ShellConnection(Started(pipe, "", b"", True), 10.0, Wake())
    connection.send(WatchRequest(matchers=[], gpus=False))
    connection.send(FollowRequest(pid=None, log_path=str(log)))
    seen: list[tuple[int, int]] = []
    try:
        async with asyncio.timeout(20), aclosing(connection.lines()) as lines:
            async for line, _ in lines:
                if json.loads(line)["kind"] != wire.LOG_BYTES:
                    continue
                piece = msgspec.json.decode(line, type=LogBytes)
                if not piece.data:
                    log.write_bytes(FLOOD)
                    continue
                seen.append((len(piece.data), pipe.waits))
                if len(seen) == 3:
                    break
    finally:
        await connection.close()
    assert seen == [(TOLD_BYTES, 0)] * 3
