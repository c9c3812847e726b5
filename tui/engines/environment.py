"""Which environment variables a fingerprint holds, and which of them each start has anew."""

import re

from tui.engines.base import ENVIRONMENT, Engine

PROVED = (*ENVIRONMENT, "LD_PRELOAD", "LD_LIBRARY_PATH", "KMP_", "MKL_", "CUBLAS_", "CUDNN_", "PYTORCH_")
"""Prefixes of what is asked for when a server is followed.

LD_PRELOAD and LD_LIBRARY_PATH are among them: they decide which NCCL and which allocator are loaded.
"""
_PER_START = re.compile(
    r"SGLANG_RUN_ID|VLLM_INSTANCE_ID|VLLM_PORT|VLLM_DP_MASTER_(?:IP|PORT)|TORCHELASTIC_RUN_ID"
    r"|NCCL_COMM_ID|NCCL_DEBUG_FILE|NCCL_TRACE_FILE|VLLM_TRACE\w*|RAY_JOB_ID|RAY_RAYLET_PID|RAY_SESSION\w*"
    r"|\w+_(?:PORT|PID|LOG_FILE|LOG_DIR|LOG_PATH|LOGGING_CONFIG_PATH)"
)


def prefixes(engine: Engine) -> list[str]:
    """Return the prefixes of the variables that are of interest with an engine."""
    return list(dict.fromkeys((*engine.matcher.environment, *PROVED)))


def is_per_start(name: str) -> bool:
    """Return whether a variable says where one start listens and writes, or what number it has."""
    return _PER_START.fullmatch(name) is not None
