"""Secrets are hidden in arguments, environments and text; token counts and tokenizer paths are not."""

import os
import subprocess
import sys
import time

import pytest
from agent_process import until
from hypothesis import given
from hypothesis import strategies as st

from tui.agent.mask import (
    HIDDEN,
    is_secret_name,
    mask_argv,
    mask_environment,
    mask_text,
    sentences,
    suspicion,
)
from tui.agent.processes.keys import arguments_of, key_in, key_of, split_arguments

SECRET = "s3cr3tValue.x-Y_z"
HF = "hf_" + "aB3" * 8

HIDING = {
    "flag": f"python -m sglang.launch_server --api-key {SECRET} --port 30000",
    "flag with sign": f"vllm serve --api-key={SECRET} --port 1",
    "llama.cpp": f"llama-server --hf-token {SECRET} -c 4096",
    "llama.cpp, short": f"llama-server -hft {SECRET} -c 4096",
    "SGLang's arguments": f"server_args=ServerArgs(model_path='/m', api_key='{SECRET}', admin_api_key=None)",
    "vLLM's arguments": f"non-default args: {{'api_key': ['{SECRET}'], 'model': 'q'}}",
    "a key with a bracket": f"non-default args: {{'api_key': ['a[b', '{SECRET}'], 'model': 'q'}}",
    "list of arguments": f"['--api-key', '{SECRET}', '--port', '1']",
    "json": f'{{"aws_secret_access_key": "{SECRET}", "k": 1}}',
    "camel case": f'{{"apiKey":"{SECRET}"}}',
    "variable": f"HF_TOKEN={SECRET} python x.py",
    "exported": f"export OPENAI_API_KEY='{SECRET}'",
    "header": f"x-api-key: {SECRET}",
    "bearer": f"-H 'Authorization: Bearer {SECRET}'",
    "user in url": f"http://me:{SECRET}@10.0.0.1:8000/v1",
    "token in url": f"https://{SECRET}@huggingface.co/x",
    "query": f"GET /v1/models?api_key={SECRET}&x=1 HTTP/1.1",
    "signed url": f"https://b.s3.amazonaws.com/w?X-Amz-Signature={SECRET}",
    "password": f"--ssl-keyfile-password {SECRET}",
}
SHAPES = [
    HF,
    "sk-" + "a1B2" * 6,
    "nvapi-" + "a1B2" * 6,
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "a1B2" * 9,
    "glpat-" + "a1B2" * 5,
    "AKIA" + "A1B2" * 4,
    "AIza" + "a1B2" * 8,
    "eyJ" + "a1B2" * 4 + "." + "a1B2" * 4 + "." + "c3D4" * 3,
]
KEEPING = [
    "[TP0] Prefill batch, #new-seq: 1, #new-token: 5, #cached-token: 0, token usage: 0.00",
    "max_total_num_tokens=123456, chunked_prefill_size=8192, max_tokens=100",
    "ServerArgs(tokenizer_path='/m', tokenizer_mode='auto', skip_tokenizer_init=False, api_key=None)",
    "eos_token='<|im_end|>', pad_token='<pad>', bos_token=None",
    "python -m vllm.entrypoints.openai.api_server --tokenizer /m --max-num-batched-tokens 8192",
    "KeyError: 'weight' while the key is missing; the secret is patience",
    "http://127.0.0.1:30000/health returned 503",
    "kv_cache_dtype=auto keys: 12, token: <eos>",
    "key_cache shape (2, 4), task-force sk-8 basic test",
]


@pytest.mark.parametrize("text", HIDING.values(), ids=HIDING.keys())
def test_a_secret_in_a_line_is_hidden(text: str) -> None:
    masked = mask_text(text)

    assert SECRET not in masked
    assert HIDDEN in masked
    assert mask_text(masked) == masked


@pytest.mark.parametrize("secret", SHAPES, ids=lambda secret: secret[:5])
def test_a_secret_of_a_known_shape_is_hidden_wherever_it_stands(secret: str) -> None:
    assert mask_text(f"loading ({secret}) now") == f"loading ({HIDDEN}) now"


@pytest.mark.parametrize("text", KEEPING)
def test_what_is_no_secret_stays(text: str) -> None:
    assert mask_text(text) == text


def test_the_rest_of_a_line_stays() -> None:
    line = f"ServerArgs(model_path='/m', api_key='{SECRET}', tp_size=2)"

    assert mask_text(line) == f"ServerArgs(model_path='/m', api_key='{HIDDEN}', tp_size=2)"
    assert mask_text(f"run --api-key {SECRET} --tp 2") == f"run --api-key {HIDDEN} --tp 2"
    assert mask_text(f"(api_key={SECRET})") == f"(api_key={HIDDEN})"


def test_arguments_keep_their_number_and_lose_their_secrets() -> None:
    argv = [
        "vllm",
        "serve",
        "m",
        "--api-key",
        "one",
        "two",
        "--tp",
        "2",
        f"--hf-token={SECRET}",
        f"A_TOKEN={SECRET},x",
    ]

    assert mask_argv(argv) == [
        "vllm", "serve", "m", "--api-key", HIDDEN, HIDDEN, "--tp", "2", f"--hf-token={HIDDEN}",
        f"A_TOKEN={HIDDEN}",
    ]  # fmt: skip


def test_a_script_in_an_argument_is_masked_too() -> None:
    assert SECRET not in " ".join(mask_argv(["sh", "-c", f"python -m x --api-key {SECRET} --port 1"]))


def test_one_value_is_hidden_after_a_flag_that_takes_one() -> None:
    assert mask_argv(["--hf-token", SECRET, "model"]) == ["--hf-token", HIDDEN, "model"]


def test_a_flag_without_its_value_hides_no_other_flag() -> None:
    assert mask_argv(["--api-key", "--port", "1"]) == ["--api-key", "--port", "1"]


def test_secret_variables_are_hidden_and_others_looked_through() -> None:
    variables = {
        "HF_TOKEN": SECRET,
        "NCCL_DEBUG": "INFO",
        "HF_ENDPOINT": f"https://a:{SECRET}@h",
        "VLLM_API_KEY": "",
    }

    assert mask_environment(variables) == {
        "HF_TOKEN": HIDDEN,
        "NCCL_DEBUG": "INFO",
        "HF_ENDPOINT": f"https://{HIDDEN}@h",
        "VLLM_API_KEY": "",
    }


@pytest.mark.parametrize(
    ("name", "secret"),
    [
        ("HF_TOKEN", True), ("AWS_SECRET_ACCESS_KEY", True), ("--admin-api-key", True), ("db.password", True),
        ("TOKENIZERS_PARALLELISM", False), ("--max-tokens", False), ("SGLANG_KEY_CACHE", False),
        ("key", False),
    ],
)  # fmt: skip
def test_names_tell_secrets(name: str, secret: bool) -> None:
    assert is_secret_name(name) is secret


@given(st.text(max_size=300))
def test_any_text_can_be_masked_and_masked_again(text: str) -> None:
    once = mask_text(text)

    assert mask_text(once) == once


PARTS = st.sampled_from(
    [*HIDING.values(), *SHAPES, *KEEPING, "key", "api_", "tokens", "Secret", "=", ": ", "'", '"', " ", ",",
     "--", "[", "x", "://", "@", "?key=", "basic ", "\u0130", "\u212a", "\u0131", ""]
)  # fmt: skip


@given(st.lists(PARTS, max_size=4).map("".join))
def test_a_line_whose_sentence_is_not_suspect_holds_no_secret(line: str) -> None:
    (sentence,) = sentences(line)
    doubt = suspicion(sentence.decode())
    if not doubt or (doubt == "flag" and "--" not in line):
        assert mask_text(line) == line


@given(st.lists(PARTS, max_size=8).map("".join))
def test_plain_text_is_masked_by_the_short_way_as_other_text_by_the_long_one(text: str) -> None:
    assert mask_text("é " + text) == "é " + mask_text(text)


@given(st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=8, max_size=40))
def test_any_key_behind_the_flag_is_hidden(key: str) -> None:
    assert key not in mask_text(f"launch --api-key {key} --x")
    assert key not in mask_argv(["launch", "--api-key", key])


@pytest.mark.parametrize(
    "text",
    ["a" * 65536, "key" * 20000, "-" * 60000 + "key=", "token " * 10000, "://" * 20000,
     "key='" + "\\" * 60000, "'" * 60000 + "key: ", "api_key='" * 7000, "x://" + "a:" * 30000,
     "key=[ " * 10900, "key=['" * 13000],
    ids=range(11),
)  # fmt: skip
def test_hostile_lines_take_no_long_time(text: str) -> None:
    began_s = time.process_time()
    mask_text(text)

    assert time.process_time() - began_s < 2


def test_the_key_of_a_running_server_is_found_on_the_host() -> None:
    command = [sys.executable, "-c", "import time; time.sleep(60)", "--api-key", SECRET]
    server = subprocess.Popen(command)
    try:
        until(lambda: (arguments_of(server.pid) or [])[1:2] == ["-c"])
        assert key_of(server.pid) == SECRET
    finally:
        server.kill()
        server.wait()
    assert key_of(server.pid) is None
    assert key_of(os.getpid()) is None


@pytest.mark.parametrize(
    ("argv", "key"),
    [
        (["--api-key", "a"], "a"),
        (["--api-key=a"], "a"),
        (["--api_key", "a"], "a"),
        (["--api-key", "a,b"], "a"),
        (["--api-key"], None),
        (["--api-key-file", "a"], None),
        ([], None),
    ],
)
def test_the_key_is_taken_as_the_engines_take_it(argv: list[str], key: str | None) -> None:
    assert key_in(["server", *argv]) == key


def test_a_command_line_is_taken_apart() -> None:
    assert split_arguments(b"a\0\0b c\0") == ["a", "", "b c"]
    assert split_arguments(b"sglang::scheduler\0\0\0\0") == ["sglang::scheduler"]
    assert split_arguments(b"") == []
    assert split_arguments(b"\xff\0") == ["\\xff"]
