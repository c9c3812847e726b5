"""A diagnosis as a key asks for it: said beforehand, sent once, refused where it cannot be."""

from watched_host import WatchedHost, process

from tui.benchmark import BenchSpec
from tui.events import AnyEvent
from tui.requests import AnyRequest, DiagnoseRequest
from tui.session import Session
from tui.watch.options import WatchOptions

SPEC = BenchSpec(url="", model=None, concurrency=1, requests=1, input_tokens=8, output_tokens=8)
LAUNCHER = "python3 -m sglang.launch_server --model-path /models/qwen"


class Asked:
    """A source that gives nothing and keeps what it is asked."""

    def __init__(self) -> None:
        self.requests: list[AnyRequest] = []

    def __aiter__(self) -> "Asked":
        return self

    async def __anext__(self) -> AnyEvent:
        raise StopAsyncIteration

    def send(self, request: AnyRequest) -> None:
        self.requests.append(request)

    async def close(self) -> None:
        return


def session(*, followed: bool) -> tuple[Session, Asked]:
    source = Asked()
    host = WatchedHost(WatchOptions())
    if followed:
        host.hello()
        rank = process(11, "sglang::scheduler", matched="sglang", ppid=10, title="sglang::scheduler")
        host.processes(process(10, LAUNCHER, matched="sglang"), rank)
    watch = Session(source, WatchOptions(), SPEC)
    watch.state = host.state
    return watch, source


def test_the_plan_touches_nothing() -> None:
    watch, source = session(followed=True)

    assert watch.diagnosis_plan().startswith("3 stack dumps, 10 s apart, of ")
    assert watch.can_diagnose
    assert source.requests == []


def test_it_is_asked_for_once_and_a_second_time_is_refused() -> None:
    watch, source = session(followed=True)
    plan = watch.diagnosis_plan()

    assert watch.diagnose() == plan
    assert watch.diagnose() == "a diagnosis runs already"

    (request,) = source.requests
    assert isinstance(request, DiagnoseRequest)
    assert request.pids == [11]


def test_without_a_server_it_is_refused_in_one_sentence() -> None:
    watch, source = session(followed=False)

    assert watch.diagnose() == "no server is followed: there is nothing to look into"
    assert not watch.can_diagnose
    assert source.requests == []
