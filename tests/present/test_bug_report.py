"""The text that a person posts: everything is in it, and no secret."""

from watched_host import WatchedHost, process

from tui.present import report_text
from tui.present.bug_report import CHARACTERS, log_lines, says_something

SECRET = "hf_abcdefghijklmnopqrstuvwx"
TP0 = "[2026-11-29 13:48:34 TP0] "


def report(host: WatchedHost) -> str:
    return report_text(host.state, host.now, version="1.2.3")


def start(host: WatchedHost, argv: str = "", environment: dict[str, str] | None = None) -> None:
    """Start a server with more arguments."""
    command = f"python3 -m sglang.launch_server --model-path /models/qwen --port 30000{argv}"
    host.processes(process(100, command, matched="sglang", environment=environment, started_s=host.mono))


def test_it_says_versions_model_arguments_variables_gpus_and_the_log(host: WatchedHost) -> None:
    start(host, " --mem-fraction-static 0.88", {"NCCL_DEBUG": "INFO", "CUDA_VISIBLE_DEVICES": "0,1"})
    host.log(TP0 + "Load weight begin. avail mem=138.42 GB")
    text = report(host)
    for words in (
        "tminus 1.2.3",
        "host gpu01",
        "engine SGLang",
        "model /models/qwen",
        "pid 100, port 30000",
        "--mem-fraction-static 0.88",
        "CUDA_VISIBLE_DEVICES=0,1\nNCCL_DEBUG=INFO",
        "0 NVIDIA H200: memory 0.6",
        "Load weight begin",
        "NVIDIA driver",
    ):
        assert words in text, words


def test_a_phase_gone_through_in_turn_by_ranks_without_times_is_told_once(host: WatchedHost) -> None:
    start(host)
    begin, end = "Load weight begin. avail mem=138.42 GB", "Memory pool end. avail mem=12.28 GB"
    for rank in ("TP0", "TP1", "TP2"):
        host.log(*(f"[2026-11-29 13:48:34 {rank}] {text}" for text in (begin, end)), behind_bytes=1)
    phases = report(host).partition("Phases\n------\n")[2].partition("\n\n")[0].splitlines()
    assert len(phases) == len(set(phases))


def test_no_secret_of_arguments_variables_or_log_comes_through(host: WatchedHost) -> None:
    argv = f" --api-key {SECRET}1 --hf-token={SECRET}2 --proxy http://ann:{SECRET}3@proxy"
    start(host, argv, {"HF_TOKEN": SECRET + "4", "HTTP_PROXY": f"http://ann:{SECRET}5@proxy", "A": SECRET})
    host.log(
        TP0 + f"server_args=ServerArgs(model_path='qwen', api_key='{SECRET}6')",
        f"Authorization: Bearer {SECRET}7",
        f"downloading with {SECRET}8",
    )
    text = report(host)
    assert SECRET not in text
    assert "--api-key ***" in text
    assert "HF_TOKEN=***" in text
    assert "downloading with ***" in text


def test_bars_requests_and_empty_lines_are_left_out_of_the_log(host: WatchedHost) -> None:
    start(host)
    host.log(*(TP0 + f"said {'a' * number}" for number in range(40)))
    host.log("", 'INFO: 127.0.0.1:5 - "GET /health HTTP/1.1" 503 Service Unavailable', "the last word")
    lines = log_lines(host.state)
    assert len(lines) == 20
    assert lines[-2:] == [TP0 + f"said {'a' * 39}", "the last word"]
    assert not says_something("Loading shards:  25% Completed | 4/16 [00:08<00:24,  2.00s/it]")
    assert says_something("Traceback (most recent call last):")


def test_what_every_rank_writes_stands_there_once_and_a_bar_under_way_last(host: WatchedHost) -> None:
    start(host)
    ranks = (
        f"[2026-11-29 13:48:3{rank} TP{rank}] Load weight begin. avail mem={rank}.5 GB" for rank in range(8)
    )
    bar = "Loading shards:  25% Completed | 4/16 [00:08<00:24,  2.00s/it]"
    host.log(*ranks, bar)
    assert log_lines(host.state)[-2:] == [
        "[2026-11-29 13:48:37 TP7] Load weight begin. avail mem=7.5 GB",
        bar,
    ]


def test_it_is_never_more_than_a_terminal_takes_in_one_copy(host: WatchedHost) -> None:
    start(host, " --extra " + "x" * 90_000, {f"NCCL_{number}": "y" * 5_000 for number in range(200)})
    host.log(*("z" * 9_000 + str(number) for number in range(30)))
    text = report(host)
    assert len(text) <= CHARACTERS + 1
    assert "…" in text


def test_without_a_server_it_says_what_is_known(host: WatchedHost) -> None:
    text = report(host)
    assert "host gpu01" in text
    assert "none: there is no load to judge" in text
    assert "Arguments" not in text
