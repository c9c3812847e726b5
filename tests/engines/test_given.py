"""A command line as settings: what means the same is the same, however it is spelt and in whatever order."""

import pytest
from hypothesis import given as draws
from hypothesis import strategies as st

from tui.engines.aliases import GROUPS, canonical
from tui.engines.base import Engine
from tui.engines.environment import PROVED, is_per_start, prefixes
from tui.engines.given import comparable, given
from tui.engines.llamacpp import LLAMACPP
from tui.engines.registry import ENGINES
from tui.engines.sglang import SGLANG
from tui.engines.trtllm import TRTLLM
from tui.engines.vllm import VLLM


@pytest.mark.parametrize(
    ("engine", "one", "other"),
    [
        (SGLANG, "--tp 2", "--tensor-parallel-size=2"),
        (SGLANG, "--tp-size 2 --dp 4", "--data-parallel-size 4 --tp=2"),
        (SGLANG, "--mem_fraction_static 0.9", "--mem-fraction-static 0.9"),
        (SGLANG, "--cuda-graph-bs 1 2 4 --tp 2", "--tp 2 --cuda-graph-bs 1 2 4"),
        (VLLM, "-tp 2 --enforce-eager", "--enforce-eager --tensor-parallel-size 2"),
        (LLAMACPP, "-c 2048 -ngl 99", "--n-gpu-layers 99 --ctx-size 2048"),
        (LLAMACPP, "-fa on", "--flash-attn on"),
        (SGLANG, "--tp 4 --tp 2", "--tp 2"),
    ],
)
def test_spellings_of_one_thing_are_one(engine: Engine, one: str, other: str) -> None:
    first, second = (given(engine, ["serve", *line.split()]).flags for line in (one, other))
    assert first == second
    assert first


def test_what_each_of_several_flags_adds_is_kept() -> None:
    told = given(LLAMACPP, ["llama-server", "-ot", "a=CPU", "--override-tensor", "b=CPU"])
    assert told.flags == {"--override-tensor": "a=CPU b=CPU"}


def test_a_flag_with_an_equals_sign_in_its_value_is_cut_at_the_first() -> None:
    assert given(LLAMACPP, ["llama-server", "--override-kv=a=int:1"]).flags == {"--override-kv": "a=int:1"}


@pytest.mark.parametrize(
    ("engine", "line", "command", "flags"),
    [
        (
            SGLANG,
            "/usr/bin/python3.12 -B -m sglang.launch_server --tp 2",
            "sglang.launch_server",
            {"--tp": "2"},
        ),
        (SGLANG, "python3 -X dev -m sglang.launch_server", "sglang.launch_server", {}),
        (
            VLLM,
            "/opt/venv/bin/python /opt/venv/bin/vllm serve acme/zed",
            "vllm serve",
            {"--model": "acme/zed"},
        ),
        (
            VLLM,
            "vllm serve acme/zed -tp 2",
            "vllm serve",
            {"--model": "acme/zed", "--tensor-parallel-size": "2"},
        ),
        (
            TRTLLM,
            "trtllm-serve serve zed --tp_size 2",
            "trtllm-serve serve",
            {"--model": "zed", "--tp-size": "2"},
        ),
        (LLAMACPP, "/opt/llama-server --seed -1", "llama-server", {"--seed": "-1"}),
        (LLAMACPP, "llama-server", "llama-server", {}),
        (SGLANG, "python3", "python3", {}),
        (SGLANG, "python3 -m", "-m", {}),
    ],
)
def test_the_interpreter_is_no_part_of_it(
    engine: Engine, line: str, command: str, flags: dict[str, str]
) -> None:
    told = given(engine, line.split(" "))
    assert (told.command, told.flags) == (command, flags)


def test_a_switch_has_no_value() -> None:
    line = "x --enable-metrics yes --trust-remote-code --tp 2"
    assert given(SGLANG, line.split()).flags == {
        "--enable-metrics": "",
        "--trust-remote-code": "",
        "--tp": "2",
    }


@draws(st.lists(st.text(max_size=12), max_size=12), st.sampled_from(ENGINES))
def test_any_command_line_is_read(argv: list[str], engine: Engine) -> None:
    told = given(engine, argv)
    assert all(flag.startswith("-") for flag in told.flags)


@draws(st.permutations(["--tp 2", "--mem-fraction-static 0.8", "--enable-metrics", "--context-length=4096"]))
def test_the_order_does_not_matter(parts: list[str]) -> None:
    line = " ".join(parts).split(" ")
    assert given(SGLANG, ["x", *line]).flags == {
        "--tp": "2",
        "--mem-fraction-static": "0.8",
        "--enable-metrics": "",
        "--context-length": "4096",
    }


def test_no_name_stands_in_two_groups() -> None:
    for groups in GROUPS.values():
        names = [name for group in groups for name in group]
        assert len(names) == len(set(names))


def test_the_flags_that_engines_are_read_by_have_one_name_each() -> None:
    for engine in ENGINES:
        for flags in (
            engine.flags.tensor_parallel,
            engine.flags.pipeline_parallel,
            engine.flags.data_parallel,
        ):
            assert len({canonical(engine.name, flag) for flag in flags}) <= 1, (engine.name, flags)


@pytest.mark.parametrize(
    ("one", "other"),
    [("0.90", "0.9"), ("1e3", "1000"), ('{"b": 1, "a": [2]}', '{"a":[2],"b":1}'), ("8", "8.0")],
)
def test_values_that_mean_the_same_compare_equal(one: str, other: str) -> None:
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(("one", "other"), [("0.9", "0.91"), ("LL", "LL128"), ("{a}", "{b}"), ("", "0")])
def test_other_values_do_not(one: str, other: str) -> None:
    assert comparable(one) != comparable(other)


def test_long_numbers_are_not_rounded_into_each_other() -> None:
    assert comparable("9007199254740993") != comparable("9007199254740992")
    assert comparable("253113024") != comparable("253113025")


def test_the_prefixes_are_those_that_were_promised() -> None:
    for engine in ENGINES:
        asked = prefixes(engine)
        assert len(asked) == len(set(asked))
        for prefix in (
            "NCCL_",
            "CUDA_",
            "SGLANG_",
            "SGL_",
            "VLLM_",
            "TORCH_",
            "OMP_",
            "UCX_",
            "GLOO_",
            "HF_",
        ):
            assert prefix in asked
    assert {"NVIDIA_", "LD_PRELOAD", "LD_LIBRARY_PATH"} <= set(PROVED)


@pytest.mark.parametrize("name", ["SGLANG_RUN_ID", "NCCL_DEBUG_FILE", "VLLM_PORT", "VLLM_DP_MASTER_PORT"])
def test_what_a_start_gives_itself_is_known(name: str) -> None:
    assert is_per_start(name)


@pytest.mark.parametrize(
    "name", ["NCCL_ALGO", "CUDA_VISIBLE_DEVICES", "NCCL_IB_GID_INDEX", "OMP_NUM_THREADS"]
)
def test_what_is_set_on_purpose_is_not_taken_for_it(name: str) -> None:
    assert not is_per_start(name)
