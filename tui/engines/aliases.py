"""Flags of the engines that are one and the same by several names, and which of them each start has anew.

The first name of a group stands for all. Names that two engines spell alike may mean different things, so
each engine has its own groups. Sources: their own help and argument parsers (SGLang 0.5, vLLM 0.11 to 0.24,
llama.cpp b6000 to b10434, TGI 3, TensorRT-LLM 1).
"""

Groups = tuple[tuple[str, ...], ...]

_SGLANG: Groups = (
    ("--model-path", "--model"),
    ("--tp", "--tp-size", "--tensor-parallel-size"),
    ("--pp", "--pp-size", "--pipeline-parallel-size"),
    ("--dp", "--dp-size", "--data-parallel-size"),
    ("--ep", "--ep-size", "--expert-parallel-size"),
    ("--dist-init-addr", "--nccl-init-addr"),
    ("--fp8-gemm-backend", "--fp8-gemm-runner-backend"),
)
_VLLM: Groups = (
    ("--tensor-parallel-size", "-tp"),
    ("--pipeline-parallel-size", "-pp"),
    ("--data-parallel-size", "-dp"),
    ("--decode-context-parallel-size", "-dcp"),
    ("--expert-parallel-size", "-ep"),
    ("--quantization", "-q"),
    ("--nnodes", "-n"),
    ("--node-rank", "-r"),
    ("--optimization-level", "-O"),
    ("--compilation-config", "-cc"),
    ("--speculative-config", "-sc"),
    ("--attention-config", "-ac"),
    ("--api-server-count", "-asc"),
)
_LLAMACPP: Groups = (
    ("--model", "-m"),
    ("--hf-repo", "-hf", "-hfr"),
    ("--hf-file", "-hff"),
    ("--model-url", "-mu"),
    ("--alias", "-a"),
    ("--ctx-size", "-c"),
    ("--n-predict", "--predict", "-n"),
    ("--batch-size", "-b"),
    ("--ubatch-size", "-ub"),
    ("--threads", "-t"),
    ("--threads-batch", "-tb"),
    ("--cpu-mask", "-C"),
    ("--cpu-range", "-Cr"),
    ("--parallel", "-np"),
    ("--cont-batching", "-cb"),
    ("--no-cont-batching", "-nocb"),
    ("--gpu-layers", "--n-gpu-layers", "-ngl"),
    ("--split-mode", "-sm"),
    ("--tensor-split", "-ts"),
    ("--main-gpu", "-mg"),
    ("--device", "-dev"),
    ("--override-tensor", "-ot"),
    ("--cpu-moe", "-cmoe"),
    ("--n-cpu-moe", "-ncmoe"),
    ("--flash-attn", "-fa"),
    ("--cache-type-k", "-ctk"),
    ("--cache-type-v", "-ctv"),
    ("--no-kv-offload", "-nkvo"),
    ("--kv-unified", "-kvu"),
    ("--seed", "-s"),
    ("--model-draft", "-md"),
    ("--hf-repo-draft", "-hfd", "-hfrd"),
    ("--ctx-size-draft", "-cd"),
    ("--gpu-layers-draft", "--n-gpu-layers-draft", "-ngld"),
    ("--device-draft", "-devd"),
    ("--draft-max", "--draft", "--draft-n"),
    ("--draft-min", "--draft-n-min"),
    ("--hf-token", "-hft"),
    ("--verbose", "-v", "--log-verbose"),
    ("--verbosity", "-lv", "--log-verbosity"),
)
_TGI: Groups = (("--port", "-p"),)
_TRTLLM: Groups = (
    ("--tp-size", "--tensor-parallel-size"),
    ("--pp-size", "--pipeline-parallel-size"),
    ("--ep-size", "--moe-expert-parallel-size"),
    ("--config", "--extra-llm-api-options"),
)
GROUPS: dict[str, Groups] = {
    "sglang": _SGLANG,
    "vllm": _VLLM,
    "llamacpp": _LLAMACPP,
    "tgi": _TGI,
    "trtllm": _TRTLLM,
}

REPEATED = frozenset(
    (
        "--override-tensor",
        "--override-kv",
        "--lora",
        "--lora-scaled",
        "--control-vector",
        "--control-vector-scaled",
    )
)
"""Flags of llama.cpp of which each one given counts; of all others the last."""

PER_START = frozenset(
    (
        "--host",
        "--hostname",
        "--port",
        "--nccl-port",
        "--dist-init-addr",
        "--master-port",
        "--master-addr",
        "--data-parallel-rpc-port",
        "--disaggregation-bootstrap-port",
        "--metrics-port",
        "--prometheus-port",
        "--shard-uds-path",
        "--log-file",
        "--log-dir",
        "--log-prefix",
        "--crash-dump-folder",
        "--slot-save-path",
        "--pid-file",
    )
)
"""Flags that say where a start listens and writes: two starts that differ in these alone run alike."""

_ONE = {engine: {name: group[0] for group in groups for name in group} for engine, groups in GROUPS.items()}


def canonical(engine: str | None, flag: str) -> str:
    """Return the name that stands for a flag of an engine, by any of its names; underscores are dashes."""
    plain = flag.replace("_", "-") if flag.startswith("--") else flag
    return _ONE.get(engine or "", {}).get(plain, plain)
