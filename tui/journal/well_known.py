"""What says nothing of anybody: parts of paths, hosts and users that are the same on every machine."""

import re
from functools import lru_cache

_REMEMBERED = 16_384


def _in_order(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FOLDERS = _words(
    """
    . .. ~ bin boot cgroup cwd dev etc exe fd fs home include init.d lib lib32 lib64 libexec local log
    logs media mnt opt proc root run sbin self share shm srv sys systemd task tmp usr var Users users user
    null stdin stdout stderr environ maps stat status cmdline pts tty .cache .local .config .venv venv env
    envs conda miniconda3 anaconda3 site-packages dist-packages cache caches cuda nvidia docker containers
    containerd kubelet pods app apps build checkpoint checkpoints code config configs data dataset
    datasets disk download downloads hub huggingface job jobs model models nfs nvme output outputs project
    projects public repo repos results scratch script scripts server serving service services shared
    snapshots blobs refs main src ssd storage store test tests train training volume volumes weights work
    workspace www gguf vllm sglang torch triton torchinductor inductor torch_compile_cache
    torch_extensions flashinfer deep_gemm llama.cpp tensorrt_llm nv host dir file domain container mail
    resolve api tree raw
    """
)
"""Parts of paths that stay; also the words that replacements are made of."""
PROGRAMS = _words(
    """
    bash sh env python sglang vllm llama-server llama-cli text-generation-launcher text-generation-server
    text-generation-router trtllm-serve mpirun orterun torchrun ray uv uvicorn nvcc ptxas cicc cudafe++
    gcc g++ cc1plus ninja nvidia-smi tini sudo docker numactl srun tritonserver launch_server.py
    api_server.py
    """
)
PACKAGES = _words(
    """
    accelerate aiohttp anyio asyncio compressed_tensors cuda cupy cutlass deep_ep deep_gemm fastapi
    flash_attn flashinfer huggingface_hub llama_cpp mpi4py multiprocessing numpy nvidia outlines peft PIL
    pydantic pydantic_core ray requests safetensors sgl_kernel sglang starlette tensorrt_llm
    text_generation_server tilelang tokenizers torch torchao torchvision tqdm transformers triton urllib3
    uvicorn uvloop vllm xformers xgrammar zmq
    """
)
"""Python packages: where in one of them it failed is what a bug report is for."""
SYSTEM = _in_order(
    """
    /usr/bin/ /usr/sbin/ /usr/lib/ /usr/lib64/ /usr/libexec/ /usr/include/ /usr/share/ /bin/ /sbin/ /lib/
    /lib64/ /dev/ /sys/
    """
)
NOT_SYSTEM = ("/dev/shm/", "/dev/mapper/", "/dev/disk/", "/sys/fs/cgroup/")
USERS = frozenset(("root", "nobody", "daemon", "bin", "sys", "www-data", ""))
HOSTS = frozenset(
    ("local", "recorded", "unknown", "localhost", "localhost.localdomain", "ip6-localhost", "*", "")
)
NO_HOSTS = _words("none null true false auto any all unknown unset default")
"""Words that stand in a sentence where a host would; in a field of a host they are one."""
MODULES = PACKAGES | _words("self cls args server_args config threading asyncio socket logging os sys")
"""What stands first in the dotted name of a part of a program, which is no host."""
PUBLIC = _in_order(
    """
    huggingface.co hf.co github.com githubusercontent.com github.io pytorch.org python.org
    nvidia.com nvcr.io docker.io docker.com quay.io ghcr.io vllm.ai sglang.ai sglang.io readthedocs.io
    modelscope.cn fastapi.tiangolo.com google.com kernel.org example.org
    """
)
"""Ends of names of hosts that belong to everybody."""
HUBS = ("huggingface.co", "hf.co", "modelscope.cn")
"""Of these the ones whose paths name somebody's models."""
PRIVATE_ENDS = frozenset(("local", "internal", "lan", "corp", "intranet", "cloud", "svc", "cluster.local"))
EXTENSIONS = _in_order(
    """
    .safetensors.index.json .safetensors .gguf .ggml .bin .pth .pt .ckpt .onnx .engine .jsonl.gz .jsonl
    .json .log .txt .py .pyc .so .sh .yaml .yml .toml .jinja .model .tiktoken .out .err .csv .gz .tar .whl
    .cubin .cuh .cu .cpp .cc .c .hpp .h .o .ptx .pem .crt .key .sock .lock .pid .env .conf .cfg .service
    .index .tmp
    """
)
ADDRESSES = ("0.0.0.0", "255.255.255.255", "::", "::1")
FILES = re.compile(
    r"(?:(?:generation_|tokenizer_|preprocessor_|quantize_|hf_quant_)?config|tokenizer|special_tokens_map|vocab"
    r"|added_tokens|merges|chat_template|pytorch_model|model|consolidated|params"
    r"|(?:model|pytorch_model|consolidated)-?\d*(?:-of-\d+)?|__init__|__main__|python[\d.]*|cuda-[\d.]+|nvidia\d*|\d+"
    r"|lib[\w.-]*\.so(?:\.\d+)*|core|server|launch_server|api_server|<\w+>)"
)
"""Names of files, without what stands behind the last dot, that are the same for every model and machine."""
SHARD = re.compile(r"-\d{5}-of-\d{5}")
HUB = re.compile(r"(models|datasets|spaces)--(.+)")


def is_public(host: str) -> bool:
    """Return whether a host name belongs to everybody."""
    return any(host == end or host.endswith("." + end) for end in PUBLIC)


@lru_cache(_REMEMBERED)
def split_extension(name: str) -> tuple[str, str]:
    """Return the name of a file and its well-known extension, which may be empty."""
    end = next((end for end in EXTENSIONS if name.endswith(end) and len(name) > len(end)), "")
    stem = name[: len(name) - len(end)]
    shard = SHARD.search(stem)
    if shard is not None and shard.end() == len(stem) and shard.start():
        return stem[: shard.start()], shard[0] + end
    return stem, end


@lru_cache(_REMEMBERED)
def stays(part: str) -> bool:
    """Return whether a part of a path says nothing of anybody."""
    if not part or part in FOLDERS or part in PROGRAMS:
        return True
    stem, _ = split_extension(part)
    return FILES.fullmatch(part) is not None or FILES.fullmatch(stem) is not None
