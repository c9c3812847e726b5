"""What a server's command line says."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.engines.arguments import read_arguments
from tui.engines.base import Engine, ServerArguments
from tui.engines.llamacpp import LLAMACPP
from tui.engines.registry import ENGINES
from tui.engines.sglang import SGLANG
from tui.engines.vllm import VLLM


@pytest.mark.parametrize(
    ("engine", "command", "expected"),
    [
        (
            SGLANG,
            "python3 -m sglang.launch_server --model-path models/q --served-model-name m --tp 2 "
            "--host 127.0.0.1 --port 30000 --enable-metrics --random-seed 1",
            ServerArguments("127.0.0.1", 30000, "models/q", "m", 2),
        ),
        (
            SGLANG,
            "python -m sglang.launch_server --model deepseek-ai/DeepSeek-V3 --tp-size=8 --dp-size 4 "
            "--pp-size 2 --enable-dp-attention --trust-remote-code --api-key ***",
            ServerArguments(
                model="deepseek-ai/DeepSeek-V3",
                served_name="deepseek-ai/DeepSeek-V3",
                tensor_parallel=8,
                pipeline_parallel=2,
                data_parallel=4,
                api_key=True,
                expert_parallel=True,
            ),
        ),
        (
            VLLM,
            "vllm serve q --download-dir /cache --revision v2 --load-format=dummy --enable-expert-parallel",
            ServerArguments(
                model="q",
                served_name="q",
                hub_cache="/cache",
                revision="v2",
                load_format="dummy",
                expert_parallel=True,
            ),
        ),
        (
            SGLANG,
            "sglang serve --model-path q --tp 2 --nnodes 2 --node-rank 1 --dist-init-addr 127.0.0.1:21000",
            ServerArguments(
                model="q",
                served_name="q",
                tensor_parallel=2,
                serves_api=False,
                nodes=2,
                node_rank=1,
                rendezvous=("127.0.0.1", 21000),
            ),
        ),
        (
            VLLM,
            "vllm serve q -tp 2 --nnodes 2 --node-rank 1 --master-addr 10.0.0.1 --headless",
            ServerArguments(
                model="q",
                served_name="q",
                tensor_parallel=2,
                serves_api=False,
                nodes=2,
                node_rank=1,
                rendezvous=("10.0.0.1", 29501),
            ),
        ),
        (
            VLLM,
            "vllm serve q -n 2 -r 0 --master-addr=gpu-a --master_port 5000",
            ServerArguments(model="q", served_name="q", nodes=2, node_rank=0, rendezvous=("gpu-a", 5000)),
        ),
        (
            SGLANG,
            "python -m sglang.launch_server --config /etc/sgl.yaml --cuda-graph-bs 1 2 4 --port 31000",
            ServerArguments(port=31000, config_path="/etc/sgl.yaml"),
        ),
        (
            VLLM,
            "/usr/bin/python3 /usr/local/bin/vllm serve Qwen/Qwen3-8B --tensor-parallel-size 4 --port=9000",
            ServerArguments(port=9000, model="Qwen/Qwen3-8B", served_name="Qwen/Qwen3-8B", tensor_parallel=4),
        ),
        (
            VLLM,
            "vllm serve --enforce-eager --port 8001 model/tiny --served-model-name tiny small -tp 2",
            ServerArguments(port=8001, model="model/tiny", served_name="tiny", tensor_parallel=2),
        ),
        (
            VLLM,
            "python -m vllm.entrypoints.openai.api_server --model '/my models/q' --tensor_parallel_size 2 "
            "-pp 2 -dp 2 --ssl-keyfile k --ssl-certfile c --host ::",
            ServerArguments(
                host="::",
                model="/my models/q",
                served_name="/my models/q",
                tensor_parallel=2,
                pipeline_parallel=2,
                data_parallel=2,
                tls=True,
            ),
        ),
        (
            VLLM,
            "vllm serve q --config serve.yaml --headless",
            ServerArguments(model="q", config_path="serve.yaml", serves_api=False),
        ),
        (
            LLAMACPP,
            "llama-server -m /models/gemma-3.gguf --host 0.0.0.0 --port 18080 -c 2048 -np 2 -t 2 --metrics",
            ServerArguments("0.0.0.0", 18080, "/models/gemma-3.gguf"),
        ),
        (
            LLAMACPP,
            "llama-server -hf ggml-org/gemma-3:Q4 -a gemma,tiny --api-prefix /llm/ --api-key-file keys",
            ServerArguments(model="ggml-org/gemma-3:Q4", served_name="gemma", api_key=True, prefix="/llm"),
        ),
        (SGLANG, "sglang::http_server", ServerArguments()),
        (
            VLLM,
            "vllm serve q --port 99999 --tensor-parallel-size auto",
            ServerArguments(model="q", served_name="q"),
        ),
        (VLLM, "vllm serve q --port 1 --port 2", ServerArguments(port=2, model="q", served_name="q")),
    ],
)
def test_a_command_line_is_read(engine: Engine, command: str, expected: ServerArguments) -> None:
    assert read_arguments(engine, shlex.split(command)) == expected


def test_variables_count_where_the_command_line_is_silent() -> None:
    environment = {"LLAMA_ARG_PORT": "9090", "LLAMA_ARG_HOST": "0.0.0.0", "LLAMA_ARG_MODEL": "/m.gguf"}
    silent = read_arguments(LLAMACPP, ["llama-server"], environment)
    assert (silent.host, silent.port, silent.model) == ("0.0.0.0", 9090, "/m.gguf")
    said = read_arguments(LLAMACPP, ["llama-server", "--port", "1234"], environment)
    assert said.port == 1234
    assert read_arguments(VLLM, ["vllm", "serve", "q"], {"VLLM_API_KEY": "***"}).api_key


def test_arguments_that_could_not_be_read_are_unknown() -> None:
    assert read_arguments(VLLM, None) == ServerArguments()


@given(st.lists(st.text(max_size=12) | st.sampled_from(["--port", "serve", "-m", "--port=", "--model", "="])))
def test_no_command_line_raises(argv: list[str]) -> None:
    for engine in ENGINES:
        arguments = read_arguments(engine, argv)
        assert arguments.port is None or 0 < arguments.port < 65536


@pytest.mark.parametrize(
    ("given", "meets"),
    [
        ("--nnodes 2 --dist-init-addr gpu-a:5000", ("gpu-a", 5000)),
        ("--nnodes 2 --nccl-init-addr [fd00::1]:5000", ("fd00::1", 5000)),
        ("--nnodes 2 --dist-init-addr tcp://10.0.0.1:5000", ("10.0.0.1", 5000)),
        ("--nnodes 2 --dist-init-addr gpu-a", None),
        ("--nnodes 2 --dist-init-addr gpu-a:99999", None),
        ("--nnodes 2", None),
        ("--nnodes 1 --dist-init-addr gpu-a:5000", None),
        ("--dist-init-addr gpu-a:5000", None),
    ],
)
def test_where_the_nodes_of_a_load_meet_is_told_only_of_a_load_on_several(
    given: str, meets: tuple[str, int] | None
) -> None:
    found = read_arguments(SGLANG, f"sglang serve --model-path q {given}".split())
    assert found.rendezvous == meets


def test_a_configuration_file_may_say_where_nodes_meet_so_no_default_counts() -> None:
    given = "vllm serve q --config serve.yaml --nnodes 2 --node-rank 1"
    assert read_arguments(VLLM, given.split()).rendezvous is None
    assert read_arguments(VLLM, f"{given} --master-addr a --master-port 5".split()).rendezvous == ("a", 5)
