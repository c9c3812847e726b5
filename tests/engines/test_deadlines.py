"""Which time-outs end a server that loads too long, by its arguments and environment."""

import shlex

import pytest

from tui.engines.deadlines import Deadline, deadlines_of
from tui.engines.llamacpp import LLAMACPP
from tui.engines.phase import Phase
from tui.engines.registry import ENGINES, engine_named
from tui.engines.told import NO_ARGUMENTS, NO_ENVIRONMENT, flag_value, number

SGLANG = "python -m sglang.launch_server --model-path qwen --tp 2"
VLLM = "vllm serve qwen -tp 2"


def told(command: str, **environment: str) -> dict[str, Deadline]:
    engine = engine_named("sglang" if "sglang" in command else "vllm")
    assert engine is not None
    return {each.name: each for each in deadlines_of(engine, shlex.split(command), environment)}


def test_sglang_has_these_by_default() -> None:
    found = told(SGLANG)
    assert {name: each.seconds for name, each in found.items()} == {
        "rendezvous": 600,
        "NCCL group": 600,
        "gloo group": 7200,
        "load barrier": 480,
        "NCCL heartbeat": 960,
        "own port": 120,
        "warm-up request": 600,
        "watchdog": 300,
    }
    assert found["NCCL group"].source == "PyTorch's default"
    assert found["watchdog"].source == "SGLang's default"
    assert found["warm-up request"].source == "SGLANG_WARMUP_TIMEOUT=600 (default)"
    assert found["NCCL heartbeat"].source == "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=480 (default), twice"


def test_vllm_has_these_by_default() -> None:
    assert {name: each.seconds for name, each in told(VLLM).items()} == {
        "rendezvous": 600,
        "gloo group": 1800,
        "NCCL heartbeat": 960,
        "model step": 300,
    }


def test_other_engines_have_none() -> None:
    others = [engine for engine in ENGINES if engine.name not in ("sglang", "vllm")]
    assert LLAMACPP in others
    assert [deadlines_of(engine, ["server"], {}) for engine in others] == [()] * len(others)


def test_flags_and_variables_change_them_and_are_named() -> None:
    found = told(
        f"{SGLANG} --dist-timeout 3600 --watchdog-timeout=1000",
        TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC="1800",
        SGLANG_WARMUP_TIMEOUT="90.5",
    )
    sources = {name: (each.seconds, each.source) for name, each in found.items()}
    assert sources["rendezvous"] == (3600, "--dist-timeout 3600")
    assert sources["NCCL group"] == (3600, "--dist-timeout 3600, from SGLang 0.5.11 on")
    assert sources["watchdog"] == (1000, "--watchdog-timeout 1000")
    assert sources["NCCL heartbeat"] == (3600, "TORCH_NCCL_HEARTBEAT_TIMEOUT_SEC=1800, twice")
    assert sources["warm-up request"] == (90.5, "SGLANG_WARMUP_TIMEOUT=90.5")
    vllm = told(f"{VLLM} --distributed_timeout_seconds 60 --cpu-distributed-timeout-seconds 61")
    assert (vllm["rendezvous"].seconds, vllm["gloo group"].seconds) == (60, 61)


def test_what_is_switched_off_is_left_out() -> None:
    assert "NCCL heartbeat" not in told(SGLANG, TORCH_NCCL_ENABLE_MONITORING="0")
    assert "NCCL group" not in told(SGLANG, TORCH_NCCL_ASYNC_ERROR_HANDLING="0")
    assert "NCCL group" in told(SGLANG, TORCH_NCCL_ASYNC_ERROR_HANDLING="3")
    assert not {"warm-up request", "own port"} & told(f"{SGLANG} --skip-server-warmup").keys()
    assert "load barrier" not in told(f"{SGLANG} --elastic-ep-backend mooncake")


def test_what_only_warns_or_has_no_reader_is_left_out() -> None:
    sglang = told(f"{SGLANG} --soft-watchdog-timeout 17")
    vllm = told(VLLM, VLLM_ENGINE_ITERATION_TIMEOUT_S="17", VLLM_RINGBUFFER_WARNING_INTERVAL="17")
    assert 17 not in [each.seconds for each in (*sglang.values(), *vllm.values())]


def test_one_rank_waits_for_nobody() -> None:
    assert told("python -m sglang.launch_server --model-path qwen").keys() == {
        "NCCL heartbeat", "own port", "warm-up request", "watchdog",
    }  # fmt: skip
    assert told("vllm serve qwen").keys() == {"NCCL heartbeat"}
    assert "rendezvous" in told("vllm serve qwen -dp 2 --enable-expert-parallel")


def test_a_configuration_file_may_say_what_the_command_line_does_not() -> None:
    found = told("vllm serve qwen --config serve.yaml")
    assert found["rendezvous"].source == "PyTorch's default, unless serve.yaml sets it"


def test_what_cannot_be_read_is_not_known() -> None:
    sglang = engine_named("sglang")
    assert sglang is not None
    found = {each.name: each for each in deadlines_of(sglang, SGLANG.split(), None)}
    assert (found["NCCL heartbeat"].seconds, found["warm-up request"].seconds) == (None, None)
    assert found["NCCL heartbeat"].source == NO_ENVIRONMENT
    assert found["watchdog"].seconds == 300
    blind = {each.name: each for each in deadlines_of(sglang, None, None)}
    assert (blind["watchdog"].seconds, blind["watchdog"].source) == (None, NO_ARGUMENTS)


def test_a_prefill_or_decode_server_has_longer_for_its_warm_up() -> None:
    assert told(f"{SGLANG} --disaggregation-mode decode")["warm-up request"].seconds == 1800
    assert told(f"{SGLANG} --disaggregation-mode null")["warm-up request"].seconds == 600


@pytest.mark.parametrize(
    ("flags", "counts"),
    [
        ("", False),
        ("-dp 4", True),
        ("--api-server-count 3", True),
        ("-dp 4 --api-server-count=1", False),
        ("-dp 4 --headless", False),
        ("-dp 4 --data-parallel-rank 2", False),
        ("-dp 16 --data-parallel-hybrid-lb --data-parallel-size-local 1", False),
        ("-dp 16 --data-parallel-hybrid-lb --data-parallel-size-local 8", True),
    ],
)
def test_vllm_waits_for_its_engines_with_a_limit_only_in_several_api_servers(
    flags: str, *, counts: bool
) -> None:
    found = told(f"{VLLM} {flags}", VLLM_ENGINE_READY_TIMEOUT_S="900")
    assert ("engine ready" in found) is counts
    if counts:
        assert (found["engine ready"].seconds, found["engine ready"].counts_from) == (900, "process")


def test_other_parts_of_vllm_give_up_waiting() -> None:
    assert told(f"{VLLM} --headless")["front end"].seconds == 300
    assert told(f"{VLLM} --distributed-executor-backend ray")["Ray placement"].phases == {Phase.LAUNCH}
    pure_torch = told(VLLM, VLLM_DISABLE_PYNCCL="1")["NCCL group"]
    assert Phase.CAPTURE not in pure_torch.phases
    assert told("vllm serve qwen --distributed-executor-backend mp")["model step"].seconds == 300


@pytest.mark.parametrize("text", ["", "ten", "-1", "1e9", "0", "٣", "1.2.3", "1" * 20, "***", None])
def test_what_is_no_time_out_is_none(text: str | None) -> None:
    assert number(text) is None


def test_the_last_of_two_flags_counts() -> None:
    argv = ["serve", "--a-b", "1", "--a_b=2", "--c", "--d", "x", "--e"]
    names = ("--a-b", "--c", "--d", "--e", "--f")
    assert [flag_value(argv, name) for name in names] == ["2", "", "x", "", None]
    assert flag_value(argv, "--a-b", "--d") == "x"
    assert flag_value([], "--a-b") is None
