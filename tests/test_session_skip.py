"""The key that jumps to the end of a log: asked for where it helps, refused where it does not."""

from msgspec.structs import replace
from watched_host import WatchedHost

from tui.benchmark import BenchSpec
from tui.events import AnyEvent, Gap, Log, decode, encode
from tui.requests import AnyRequest, SkipRequest
from tui.session import Session
from tui.watch.options import WatchOptions

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)


class Asked:
    """A source that gives nothing and keeps what it is asked."""

    def __init__(self) -> None:
        self.requests: list[AnyRequest] = []

    def __aiter__(self) -> "Asked":
        return self

    async def __anext__(self) -> AnyEvent:
        raise StopAsyncIteration

    def send(self, request: AnyRequest) -> None:
        """Keep it."""
        self.requests.append(request)

    async def close(self) -> None:
        """Do nothing: nothing was begun."""


def session(behind_bytes: int) -> tuple[Session, Asked, WatchedHost]:
    """Return a session whose log is so far behind."""
    source, host = Asked(), WatchedHost(WatchOptions())
    host.hello()
    host.starts()
    host.log("a", behind_bytes=behind_bytes)
    watch = Session(source, WatchOptions(), SPEC)
    watch.state = host.state
    return watch, source, host


def test_what_is_behind_is_skipped_when_asked() -> None:
    watch, source, _ = session(1_000_000)
    assert "marked there as not read" in watch.skip_log()
    assert source.requests == [SkipRequest()]


def test_where_nothing_is_behind_nothing_is_asked() -> None:
    watch, source, _ = session(0)
    assert watch.skip_log() == "the log is read to its end: there is nothing to skip"
    assert source.requests == []


def test_nothing_is_asked_of_a_host_that_is_away() -> None:
    watch, source, host = session(1_000_000)
    host.link("lost", "the link was lost")
    assert "not connected" in watch.skip_log()
    assert source.requests == []


def test_of_a_containers_log_it_is_said_that_it_cannot_be_skipped() -> None:
    watch, source, host = session(0)
    host.happen(
        Log(**host.when, lines=["a"], tail="", returns=[], path="docker logs", device=0, inode=0, offset=2)
    )
    assert watch.skip_log().startswith("a container's log cannot be skipped")
    assert source.requests == []


def test_what_was_skipped_is_told_in_a_recording_as_it_was() -> None:
    host = WatchedHost(WatchOptions())
    sentence = "5 bytes of /a are not read: skipped to its end, as asked"
    gap = Gap(**host.when, path="/a", lost_bytes=5, why="skipped", sentence=sentence)
    assert decode(encode(gap)) == gap
    host.happen(gap)
    assert host.state.log.lines[-1].text == f"[{sentence}]"


def test_without_python_the_answer_of_the_benchmark_key_is_the_reason() -> None:
    watch, source, host = session(0)
    assert host.state.hello is not None
    host.state.hello = replace(host.state.hello, python="")
    assert watch.start_bench().startswith("no benchmark without python3")
    assert source.requests == []
    assert not host.state.bench.armed
