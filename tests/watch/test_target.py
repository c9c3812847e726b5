"""Which server is followed, and what is asked of the source for it."""

import pytest
from watched_host import SGLANG, Watch, process

from tui.events import Process, Processes
from tui.requests import FollowRequest, ProbePlan
from tui.watch.follow import follow_request, log_sentence, server_url
from tui.watch.options import WatchOptions
from tui.watch.ranks import ranks_of
from tui.watch.target import Choice, Server, choose, servers

VLLM = "/usr/bin/python3 /usr/local/bin/vllm serve Qwen/Qwen3-8B --port 9000"
DEFAULT = WatchOptions()
LLAMA = "llama-server -m /models/gemma.gguf --host 0.0.0.0"


def told(*processes: Process, hidden: int = 0) -> Processes:
    return Processes(mono_s=1.0, wall_s=1.0, processes=list(processes), hidden=hidden)


def found(*processes: Process) -> list[Server]:
    return servers(told(*processes))


def chosen(*processes: Process, hidden: int = 0, options: WatchOptions = DEFAULT) -> Choice:
    return choose(found(*processes), options, None, hidden)


def only(*processes: Process) -> Server:
    (server,) = found(*processes)
    return server


def request(server: Server, options: WatchOptions = DEFAULT) -> FollowRequest:
    asked = follow_request(server, options)
    assert asked is not None
    return asked


def plan(server: Server, options: WatchOptions = DEFAULT) -> ProbePlan:
    probe = request(server, options).probe
    assert probe is not None
    return probe


SGLANG_TREE = (
    process(100, SGLANG, matched="sglang", started_s=5.0),
    process(101, "python3 -c from multiprocessing.resource_tracker import main", matched=None, ppid=100),
    process(102, "sglang::scheduler_TP0", matched="sglang", ppid=100, started_s=9.0),
    process(103, "sglang::scheduler_TP1", matched="sglang", ppid=100, started_s=9.0),
    process(104, "sglang::detokenizer", matched="sglang", ppid=100, started_s=9.0),
    process(105, "ninja -v", matched=None, ppid=103, started_s=20.0),
)


def test_what_a_rank_forks_under_its_own_title_is_a_helper_of_it() -> None:
    copies = (
        process(106, "sglang::scheduler_TP1", matched="sglang", ppid=103, started_s=21.0),
        process(107, "sglang::scheduler_TP1", matched="sglang", ppid=106, started_s=22.0),
    )
    server = only(*SGLANG_TREE, *copies)
    roles = {member.pid: member.role.words for member in server.members}
    assert (roles[103], roles[106], roles[107]) == ("rank TP1", "helper", "helper")
    first, second = ranks_of(server)
    assert (first.name, second.name, second.helpers) == ("TP0", "TP1", {105, 106, 107})


def test_a_launcher_and_its_ranks_are_one_server() -> None:
    server = only(*SGLANG_TREE)
    assert server.pid == 100
    assert server.started_s == 5.0
    assert not server.orphan
    assert server.arguments.tensor_parallel == 2
    assert [member.role.words for member in server.members] == [
        "launcher",
        "helper",
        "rank TP0",
        "rank TP1",
        "detokenizer",
        "helper",
    ]


def test_the_topmost_matched_process_is_the_main_one_whatever_the_order() -> None:
    assert only(*reversed(SGLANG_TREE)).pid == 100


def test_a_process_that_runs_under_a_wrapping_program_still_belongs_to_one_server() -> None:
    wrapper = process(50, "/v/bin/python /v/bin/llama-server-vulkan -m q", matched="llamacpp", started_s=1.0)
    shell = process(51, "sh -c llama-server", matched=None, ppid=50)
    child = process(52, "/v/lib/llama-server -m q", matched="llamacpp", ppid=51, started_s=2.0)
    assert only(wrapper, shell, child).pid == 50


def test_parents_that_form_a_loop_end_the_climb() -> None:
    first = process(1, VLLM, matched="vllm", ppid=2)
    second = process(2, "sh", matched=None, ppid=1)
    assert [server.pid for server in found(first, second)] == [1]


def test_a_zombie_is_no_server() -> None:
    assert found(process(100, SGLANG, matched="sglang", state="Z")) == []


def test_an_engine_unknown_to_this_client_is_no_server() -> None:
    assert found(process(100, "other", matched="other")) == []


def test_the_only_server_is_followed() -> None:
    choice = chosen(*SGLANG_TREE)
    assert choice.kind == "follow"
    assert choice.server is not None
    assert choice.server.pid == 100
    assert choice.sentence == ""


def test_several_servers_are_listed_with_the_flags_that_choose() -> None:
    choice = chosen(*SGLANG_TREE, process(200, VLLM, matched="vllm", started_s=6.0))
    assert choice.kind == "several"
    assert choice.server is None
    assert choice.sentence == (
        "2 servers, choose one with --pid or --port: "
        "pid 100 (SGLang, port 30000, qwen), pid 200 (vLLM, port 9000, Qwen/Qwen3-8B)"
    )
    assert len(choice.candidates) == 2


@pytest.mark.parametrize(
    "options",
    [WatchOptions(port=9000), WatchOptions(pid=200), WatchOptions(url="http://127.0.0.1:9000")],
)
def test_a_port_a_pid_or_a_url_chooses_one_of_several(options: WatchOptions) -> None:
    choice = chosen(*SGLANG_TREE, process(200, VLLM, matched="vllm"), options=options)
    assert choice.server is not None
    assert choice.server.pid == 200


def test_the_pid_of_a_rank_chooses_its_server() -> None:
    choice = chosen(*SGLANG_TREE, process(200, VLLM, matched="vllm"), options=WatchOptions(pid=103))
    assert choice.server is not None
    assert choice.server.pid == 100


def test_a_port_is_asked_once_it_is_known_whose_it_is_or_whether_anybodys(watched: Watch) -> None:
    host = watched(port=30000)
    host.hello()
    assert host.state.wanted is None
    host.processes()
    assert host.state.wanted is not None
    assert host.state.wanted.pid is None
    host.starts()
    assert host.state.wanted.pid == 100


def test_a_port_is_asked_though_the_processes_cannot_be_read(watched: Watch) -> None:
    host = watched(port=30000)
    host.hello()
    host.wait(9.0)
    host.driver("ok")
    assert host.state.wanted is None
    host.wait(2.0)
    host.driver("ok")
    assert host.state.wanted is not None


def test_a_server_on_another_port_is_named_while_the_wanted_one_is_awaited() -> None:
    choice = chosen(*SGLANG_TREE, options=WatchOptions(port=8000))
    assert choice.kind == "none"
    assert choice.sentence == "no server with port 8000 yet; found pid 100 (SGLang, port 30000, qwen)"


def test_without_a_server_the_sentence_says_what_is_awaited() -> None:
    assert chosen().sentence == "no server yet: waiting for SGLang, vLLM or llama.cpp to start"


def test_processes_that_may_be_servers_but_are_another_users_are_said() -> None:
    assert "2 processes of other users may be one" in chosen(hidden=2).sentence
    assert "1 process of another user may be one" in chosen(hidden=1).sentence


def test_ranks_whose_launcher_is_gone_are_left_over_and_not_followed() -> None:
    choice = chosen(*SGLANG_TREE[2:4])
    assert choice.kind == "none"
    assert choice.sentence.endswith("left over without a launcher: pid 102, 103")


def test_an_api_server_with_a_title_of_its_own_is_a_server() -> None:
    choice = chosen(process(300, "VLLM::APIServer", matched="vllm"))
    assert choice.server is not None
    assert choice.server.port == 8000


def test_the_successor_of_an_ended_server_is_the_one_that_started_later() -> None:
    ended = only(process(100, SGLANG, matched="sglang", started_s=50.0))
    older = process(200, VLLM, matched="vllm", started_s=10.0)
    newer = process(300, SGLANG, matched="sglang", started_s=60.0)
    assert choose(found(older), WatchOptions(), ended).kind == "none"
    choice = choose(found(older, newer), WatchOptions(), ended)
    assert choice.server is not None
    assert choice.server.pid == 300


def test_of_two_successors_the_one_on_the_same_port_is_taken() -> None:
    ended = only(process(100, SGLANG, matched="sglang", started_s=50.0))
    newer = (
        process(200, VLLM, matched="vllm", started_s=60.0),
        process(300, SGLANG, matched="sglang", started_s=61.0),
    )
    choice = choose(found(*newer), WatchOptions(pid=100), ended)
    assert choice.server is not None
    assert choice.server.pid == 300


@pytest.mark.parametrize(
    ("flags", "url"),
    [
        ("", "http://127.0.0.1:8000"),
        ("--host 0.0.0.0", "http://127.0.0.1:8000"),
        ("--host :: --port 9000", "http://[::1]:9000"),
        ("--host fe80::1", "http://[fe80::1]:8000"),
        ("--host 192.0.2.7", "http://192.0.2.7:8000"),
        ("--host localhost", "http://localhost:8000"),
        ("--ssl-keyfile k --ssl-certfile c", "https://127.0.0.1:8000"),
    ],
)
def test_the_address_to_ask_is_one_that_reaches_the_server_from_its_host(flags: str, url: str) -> None:
    server = only(process(1, f"vllm serve q {flags}".strip(), matched="vllm"))
    assert server_url(server) == url


def test_a_path_prefix_belongs_to_the_address() -> None:
    server = only(process(1, f"{LLAMA} --api-prefix /llm", matched="llamacpp"))
    assert plan(server).url == "http://127.0.0.1:8080/llm"


def test_a_server_is_followed_with_its_log_its_first_lines_and_its_endpoints() -> None:
    server = only(*SGLANG_TREE)
    asked = request(server)
    assert asked.pid == 100
    assert asked.started_s == 5.0
    assert asked.log_path == "/srv/server.log"
    assert asked.first_lines == list(server.engine.first_lines)
    assert asked.probe is not None
    assert asked.probe.url == "http://127.0.0.1:30000"
    assert asked.probe.expected_model == "qwen"
    assert asked.probe.health_costs_a_token


def test_a_model_asked_for_is_expected_instead_of_the_served_one() -> None:
    assert plan(only(*SGLANG_TREE), WatchOptions(model="other")).expected_model == "other"


def test_the_key_in_the_servers_arguments_is_used_only_without_one_of_our_own() -> None:
    server = only(process(1, SGLANG + " --api-key ***", matched="sglang", api_key_in_argv=True))
    assert plan(server).key_from_argv
    own = plan(server, WatchOptions(api_key="secret"))
    assert own.api_key == "secret"
    assert not own.key_from_argv


def test_a_url_overrides_the_address_of_the_arguments() -> None:
    options = WatchOptions(url="https://lb:30000/x", insecure=True)
    assert plan(only(*SGLANG_TREE), options).url == "https://lb:30000/x"


def test_a_node_that_answers_no_requests_is_not_asked() -> None:
    server = only(process(1, SGLANG + " --nnodes 2 --node-rank 1", matched="sglang"))
    assert request(server).probe is None


def test_a_url_alone_is_asked_without_a_process() -> None:
    asked = follow_request(None, WatchOptions(url="http://127.0.0.1:8000"))
    assert asked is not None
    assert asked.pid is None
    assert asked.probe is not None
    assert asked.probe.url == "http://127.0.0.1:8000"
    by_port = follow_request(None, WatchOptions(port=8000))
    assert by_port is not None
    assert by_port.probe is not None
    assert by_port.probe.url == "http://127.0.0.1:8000"
    assert follow_request(None, WatchOptions()) is None


@pytest.mark.parametrize(
    ("stdout", "stderr", "path"),
    [
        ("/srv/out.log", "/srv/err.log", "/srv/err.log"),
        ("/srv/out.log", "/dev/null", "/srv/out.log"),
        ("pipe:[1]", "/srv/err.log", "/srv/err.log"),
        ("/dev/pts/3", "/dev/pts/3", None),
        ("pipe:[1]", "pipe:[1]", None),
        ("/srv/a.log (deleted)", "/srv/a.log (deleted)", None),
        (None, None, None),
    ],
)
def test_the_log_is_the_file_that_the_phase_lines_go_to(
    stdout: str | None, stderr: str | None, path: str | None
) -> None:
    server = only(process(1, SGLANG, matched="sglang", stdout=stdout, stderr=stderr))
    assert request(server).log_path == path


def test_vllm_writes_its_phase_lines_to_standard_output() -> None:
    server = only(process(1, VLLM, matched="vllm", stdout="/o", stderr="/e"))
    assert request(server).log_path == "/o"


def test_the_log_of_a_container_is_reached_through_its_process() -> None:
    server = only(process(7, SGLANG, matched="sglang", container="abc"))
    assert request(server).log_path == "/proc/7/root/srv/server.log"


@pytest.mark.parametrize(
    ("given", "path"), [("/x.log", "/x.log"), ("~/x.log", "~/x.log"), ("logs/x.log", "/srv/logs/x.log")]
)
def test_a_log_path_given_by_hand_is_relative_to_the_servers_folder(given: str, path: str) -> None:
    server = only(process(1, SGLANG, matched="sglang", stdout=None, stderr=None))
    assert request(server, WatchOptions(log_path=given)).log_path == path


@pytest.mark.parametrize(
    ("target", "part"),
    [
        (
            "/dev/pts/3",
            "goes to a terminal (/dev/pts/3): start it with > server.log 2>&1, or give --log PATH",
        ),
        ("pipe:[1]", "goes into a pipe"),
        ("socket:[2]", "goes to a socket"),
        ("/dev/null", "is thrown away (/dev/null)"),
        ("/srv/a.log (deleted)", "log file was deleted (/srv/a.log)"),
        (None, "cannot be read: watch as root or as its user"),
    ],
)
def test_output_that_is_no_file_is_said_with_what_to_do(target: str | None, part: str) -> None:
    server = only(process(1, SGLANG, matched="sglang", stdout=target, stderr=target))
    assert part in log_sentence(server, WatchOptions())
    assert log_sentence(server, WatchOptions(log_path="/x.log")) == ""


def test_the_pipe_of_a_container_is_told_from_any_other() -> None:
    server = only(process(1, SGLANG, matched="sglang", stdout="pipe:[1]", stderr="pipe:[1]", container="abc"))
    sentence = log_sentence(server, WatchOptions())
    assert "goes to its container's log: watch inside with --docker, --podman or --kubectl" in sentence


@pytest.mark.parametrize(
    ("pid", "ppid", "target", "expected"),
    [
        (1, 0, "pipe:[1]", True),
        (40, 39, "pipe:[1]", True),
        (1, 0, "socket:[2]", True),
        (1, 0, None, True),
        (1, 0, "/dev/pts/0", True),
        (7, 1, "/dev/pts/0", True),
        (40, 39, "/dev/pts/1", False),  # of a shell that somebody opened in the container
        (1, 0, "/dev/null", False),
        (1, 0, "/srv/a.log", False),
        (1, 0, "/srv/a.log (deleted)", False),
    ],
)
def test_the_runtime_is_asked_for_a_log_that_it_may_have(
    pid: int, ppid: int, target: str | None, expected: bool
) -> None:
    server = only(process(pid, SGLANG, matched="sglang", ppid=ppid, stdout=target, stderr=target))
    request = follow_request(server, WatchOptions())

    assert request is not None
    assert request.log_to_runtime is expected


def test_a_followed_server_is_kept_when_a_second_one_starts(watched: Watch) -> None:
    host = watched()
    host.hello()
    first = host.starts()
    host.wait(5)
    host.processes(first, process(200, VLLM, matched="vllm", started_s=host.mono))
    assert host.state.target is not None
    assert host.state.target.pid == 100
    assert len(host.state.servers) == 2
