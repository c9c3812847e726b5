"""Failures that any engine's log may tell of: what the line says, why it happens, what to do next.

Rows are tried in order after the engine's own; the first that is found counts. Texts are those of PyTorch, CUDA,
NCCL, gloo, the Hugging Face libraries, CPython and the operating system, as quoted in public issues.
"""

import re

from tui.engines.marks import FaultKind, Weight
from tui.engines.rules import FaultRule

PORT_CAUSE = "Another program listens on the port that this server wants."
PORT_STEP = "Find it with `ss -ltnp`, stop it or give this server another --port."

COMMON_FAULTS: tuple[FaultRule, ...] = (
    FaultRule(
        None,
        re.compile(r"OutOfMemoryError|CUDA(?: driver)?(?: error)?: out of memory|CUDA out of memory|HIP out of memory"),
        ("OutOfMemory", "out of memory"),
        "The GPU had no memory left.",
        "See who else holds memory on it, then give the engine a smaller share or a smaller maximum.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.PORT_IN_USE,
        re.compile(r"\[Errno 98\]|\[Errno 48\]|[Aa]ddress already in use|EADDRINUSE"),
        ("Errno", "already in use", "EADDRINUSE"),
        PORT_CAUSE,
        PORT_STEP,
        terminal=True,
    ),
    FaultRule(
        FaultKind.DRIVER,
        re.compile(
            r"Error 80[34]\b|driver version is insufficient|no kernel image is available|invalid device ordinal"
            r"|No CUDA GPUs are available|unsupported display driver|CUDA driver initialization failed"
            r"|Found no NVIDIA driver|No HIP GPUs are available"
        ),
        ("Error 80", "insufficient", "kernel image", "ordinal", "No CUDA", "No HIP", "display driver", "NVIDIA driver",
         "driver initialization"),
        "The GPU driver, the CUDA libraries and the visible devices do not fit together.",
        "Compare `nvidia-smi` with the CUDA version of the image, and CUDA_VISIBLE_DEVICES with the GPUs asked for.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.DRIVER,
        re.compile(
            r"illegal memory access|unspecified launch failure|device-side assert|misaligned address"
            r"|uncorrectable ECC|GPU is lost|^Failed: Cuda error"
        ),
        ("illegal memory", "launch failure", "assert", "misaligned", "ECC", "is lost", "Cuda error"),
        "A GPU kernel failed; every later CUDA call of that process fails with it.",
        "Look for an Xid in the kernel log (`dmesg | grep -i xid`), then try without custom all-reduce and CUDA graphs.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.NCCL,
        re.compile(r"Watchdog caught collective|ncclSystemError|ncclUnhandled|ncclInternalError|ncclRemoteError|NCCL error"),
        ("collective", "ncclSystem", "ncclUnhandled", "ncclInternal", "ncclRemote", "NCCL error"),
        "The ranks could not talk to each other, or one of them was not there.",
        "See which rank is missing; try NCCL_DEBUG=INFO, and NCCL_P2P_DISABLE=1 to leave peer access out.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
    ),
    FaultRule(
        FaultKind.NCCL,
        re.compile(r"connectFullMesh failed|Connection closed by peer|Connection reset by peer.*(?:gloo|pair\.cc)|gloo.*pair\.cc"
                   r"|Timed out waiting \d+ms for (?:send|recv) operation|DistStoreError|DistNetworkError|TCPStore"),
        ("FullMesh", "by peer", "pair.cc", "Timed out", "DistStore", "DistNetwork", "TCPStore"),
        "A rank lost the connection to another one, which may have failed first.",
        "Read the other ranks' logs for the first failure; between nodes check the interface (NCCL_/GLOO_SOCKET_IFNAME).",
        weight=Weight.CONSEQUENCE,
        terminal=False,
    ),
    FaultRule(
        FaultKind.COMPILE,
        re.compile(r"\b(?:nvcc|cicc|ptxas|ninja)\b.*(?:[Ee]rror|failed|fatal)|InductorError|BackendCompilerFailed"
                   r"|CompilationError|torch\._dynamo\.exc\.|Error building extension|TorchRuntimeError|InternalTorchDynamoError"),
        ("nvcc", "cicc", "ptxas", "ninja", "Inductor", "Compil", "_dynamo", "Error building", "TorchRuntime", "DynamoError"),
        "Compiling a kernel or a graph failed.",
        "Look at the compiler's own lines above; try without torch.compile, or clear the compile cache.",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(
            r"Repo id must be in the form|does not appear to have (?:a file|any file) named|is not a (?:local folder|valid model)"
            r"|LocalEntryNotFound|OfflineModeIsEnabled|RepositoryNotFound|GatedRepo|Can't load (?:the )?(?:tokenizer|config)"
            r"|No such file or directory.*(?:\.safetensors|\.gguf|\.json|\.bin)|No model weights found|Incorrect path_or_model_id"
        ),
        ("Repo id", "does not appear", "is not a", "LocalEntry", "OfflineMode", "RepositoryNot", "GatedRepo", "Can't load",
         "No such file", "weights found", "path_or_model_id"),
        "The model, or a file of it, is not where the engine looks for it.",
        "Check the model's path or name, the download, and the access token.",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(r"SafetensorError|MetadataIncompleteBuffer|incomplete metadata|HeaderTooLarge|InvalidHeaderDeserialization"),
        ("Safetensor", "etadata", "HeaderToo", "InvalidHeader"),
        "A weight file is cut off or damaged.",
        "Compare the file sizes with the repository's and download the file again.",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"does not recognize this architecture|[Cc]ouldn't instantiate the backend tokenizer|Tokenizer class \S+ does not exist"
            r"|unrecognized arguments|invalid choice|Unsupported architecture|are not supported for now|Unknown quantization"
            r"|is not divisible|must be divisible|not supported on this|Only SM \S+ .*supported|only supports sm\d+"
        ),
        ("recognize", "ouldn't instantiate", "Tokenizer class", "unrecognized", "invalid choice", "Unsupported", "not supported",
         "Unknown quant", "divisible", "Only SM", "only supports"),
        "The engine cannot run this model with these settings on this hardware.",
        "Compare the engine's version and arguments with what the model asks for.",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"std::bad_alloc|Cannot allocate memory|\bMemoryError\b|signal 9\b|oom-kill|Out of memory: Killed process"
                   r"|DefaultCPUAllocator: (?:can't|not enough)|Bus error|signal 7\b"),
        ("bad_alloc", "Cannot allocate", "MemoryError", "signal 9", "oom-kill", "Killed process", "CPUAllocator", "Bus error",
         "signal 7"),
        "The host had no memory left (or too little /dev/shm).",
        "See `dmesg` for the OOM killer; give the container more memory and /dev/shm, or load with fewer processes.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"\bTimeoutError\b|timed out"),
        ("TimeoutError", "timed out"),
        "Something that was waited for did not come in time.",
        "See what the slowest process was doing before this line.",
        weight=Weight.CONSEQUENCE,
    ),
)  # fmt: skip
