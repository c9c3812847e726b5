"""Which command lines and titles are servers, as the agent searches for them."""

import re

import pytest

from tui.engines.registry import engine_named, engine_serving, matchers


def found(command: str) -> set[str]:
    """Return the engines whose matchers find the command line."""
    return {
        matcher.engine
        for matcher in matchers()
        if any(re.search(pattern, command) for pattern in matcher.argv)
        or any(re.search(pattern, command) for pattern in matcher.titles)
    }


@pytest.mark.parametrize(
    ("engine", "command"),
    [
        ("sglang", "python -m sglang.launch_server --model-path qwen"),
        ("sglang", "python3 -m sglang.launch_server"),
        ("sglang", "/usr/bin/python3.11 -u -X dev -m sglang.launch_server --port 1"),
        ("sglang", "/opt/my env/bin/python -B -m sglang.launch_server"),
        ("sglang", "python -um sglang.launch_server --tp 8"),
        ("sglang", "python3 -m debugpy --listen 5678 -m sglang.launch_server"),
        ("sglang", "python3 /opt/venv/lib/python3.12/site-packages/sglang/launch_server.py --tp 8"),
        ("sglang", "/opt/venv/bin/python3 /opt/venv/bin/sglang serve --model-path qwen"),
        ("sglang", "sglang serve --model-path qwen"),
        ("sglang", "python -m sglang.cli.main serve --model-path qwen"),
        ("sglang", "sglang::scheduler_DP0_TP0_EP0"),
        ("sglang", "sglang::detokenizer"),
        ("vllm", "python -m vllm.entrypoints.openai.api_server --model qwen"),
        ("vllm", "/usr/bin/python3 /usr/local/bin/vllm serve Qwen/Qwen3-8B"),
        ("vllm", "/home/ann/my models/env/bin/python /home/ann/my models/env/bin/vllm serve q"),
        ("vllm", "vllm serve Qwen/Qwen3-8B --port 9000"),
        ("vllm", "vllm serve"),
        ("vllm", "python /src/vllm/entrypoints/openai/api_server.py --model q"),
        ("vllm", "VLLM::EngineCore_DP0"),
        ("vllm", "VLLM::Worker_TP0"),
        ("llamacpp", "llama-server -m q.gguf"),
        ("llamacpp", "./llama-server -m q.gguf"),
        ("llamacpp", "llama-server-vulkan -m q.gguf --port 18080"),
        ("llamacpp", "/app/llama-server --host 0.0.0.0"),
        ("llamacpp", "/var/lib/containers/storage/overlay/1a/merged/app/llama-server -m q"),
        ("llamacpp", "/opt/llama cpp/build/bin/llama-server -m q.gguf"),
        ("llamacpp", "/opt/venv/bin/python3 /opt/venv/bin/llama-server-vulkan -m q.gguf"),
    ],
)
def test_a_server_is_found_by_its_command_line_or_title(engine: str, command: str) -> None:
    assert found(command) == {engine}


@pytest.mark.parametrize(
    "command",
    [
        "vim sglang/launch_server.py",
        "/usr/bin/vim /srv/llama-server",
        "tail -f /var/log/llama-server",
        "/usr/bin/tail -f /srv/my logs/llama-server",
        "less vllm serve",
        "grep -r sglang.launch_server .",
        "grep --color=auto vllm serve",
        "/usr/bin/grep vllm serve",
        "ssh gpu01 python -m sglang.launch_server --tp 8",
        "ssh gpu01 vllm serve qwen",
        "docker logs -f llama-server",
        "docker run --gpus all vllm/vllm-openai vllm serve qwen",
        "docker exec c python -m vllm.entrypoints.openai.api_server",
        "pip install sglang",
        "pip download llama-server",
        "python -m pip install vllm",
        "python -m sglang.bench_serving --backend sglang",
        "python3 -m sglang.bench_one_batch_server --model-path sglang.launch_server.txt",
        "vllm bench serve --model qwen",
        "/usr/bin/python3 /usr/local/bin/vllm bench latency --model qwen",
        "vllm chat --url http://localhost",
        "bash -c python -m sglang.launch_server --tp 8 2>&1 | tee server.log",
        "/bin/bash -c exec /usr/bin/python3 -m sglang.launch_server",
        "/bin/sh /entry.sh vllm serve qwen",
        "sudo -u ann /opt/env/bin/python -m sglang.launch_server",
        "sudo bin/python -m sglang.launch_server",
        "nohup vllm serve qwen",
        "timeout 3600 python -m sglang.launch_server",
        "/usr/bin/timeout 3600 /usr/bin/python -m vllm.entrypoints.openai.api_server",
        "uv run vllm serve qwen",
        "/root/.local/bin/uv run python -m sglang.launch_server",
        "conda run -n sgl python -m sglang.launch_server",
        "tmux new -s srv vllm serve qwen",
        "watch -n 1 curl localhost/llama-server",
        "python -m http.server --directory llama-server",
        "python -c import sglang.launch_server",
        "python -m sglang_router.launch_server --dp-size 2",
        "/usr/bin/python3 train.py --note sglang serve",
        "git clone llama-server",
        "make llama-server",
        "llama-server.log",
        "llama-cli -m q.gguf",
        "pgrep -f llama-server",
        "py-spy dump -- python -m sglang.launch_server",
        "",
    ],
)
def test_what_only_names_a_server_is_not_taken_for_one(command: str) -> None:
    assert found(command) == set()


@pytest.mark.parametrize("name", ["NCCL_ALGO", "CUDA_VISIBLE_DEVICES", "SGLANG_X", "VLLM_X", "TORCH_X"])
def test_settings_of_engines_and_gpus_are_asked_for(name: str) -> None:
    for matcher in matchers():
        assert any(name.startswith(prefix) for prefix in matcher.environment)


def test_an_engine_is_known_by_name_and_by_its_http_header() -> None:
    assert engine_named("sglang") is not None
    assert engine_named("another") is None
    llama = engine_serving("llama.cpp")
    assert llama is not None
    assert llama.name == "llamacpp"
    assert engine_serving("uvicorn") is None
    assert engine_serving(None) is None


def test_a_hostile_command_line_takes_no_time_to_refuse() -> None:
    commands = ["python " + "-a b " * 20_000, "/" + "a b/" * 20_000, "python -m " * 10_000]
    for command in commands:
        assert found(command) == set()
