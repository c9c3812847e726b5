"""Failures that any engine's log may tell of: what the line says, why it happens, what to do next.

Rows are tried in order after the engine's own; the first that is found counts. Texts are those of PyTorch,
CUDA, NCCL, gloo, the Hugging Face libraries, CPython and the operating system, as quoted in public issues. A
row is ``terminal`` only where no load goes on after such a line; an exception that nobody caught is an end
anyway.
"""

import re

from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import FaultRule

PORT_CAUSE = "Another program listens on the port that this server wants."
PORT_STEP = "Find it with `ss -ltnp`, stop it or give this server another --port."

# Not behind a quotation mark, unless it is that of a raise statement: prompts and arguments quote anything.
_NO_MEMORY = (
    r"^(?:\s*raise [\w.]+\([rf]{0,2}[\"'])?[^\"']{0,300}?(?:OutOfMemoryError"
    r"|(?:CUDA|HIP)(?: driver)?(?: error)?:? out of memory"
    r"|Cuda failure (?:\d+ )?'out of memory')"
)
_HELD_BY = r".{0,300}?Process (?P<pid>\d+) has (?P<held>[\d.]+ [KMGT]iB) memory in use"
_NO_MEMORY_HINTS = ("OutOfMemory", "out of memory")
_SMALLER = "give the engine a smaller share or a smaller maximum"

_MEMORY = (
    FaultRule(
        None,
        re.compile(rf"(?:{_NO_MEMORY}){_HELD_BY}.{{0,200}}?this process has"),
        _NO_MEMORY_HINTS,
        "The GPU had no memory left: another process (pid {pid}) holds {held} of it.",
        f"See with `nvidia-smi` what process {{pid}} is and end it if it is a leftover; else {_SMALLER}.",
        terminal=True,
    ),
    FaultRule(
        None,
        # In a container the driver's process ids are not its own, so that this may be the engine itself.
        re.compile(rf"(?:{_NO_MEMORY}){_HELD_BY}"),
        _NO_MEMORY_HINTS,
        "The GPU had no memory left: process {pid} of the host, this one or another, holds {held} of it.",
        f"See with `nvidia-smi` on the host whether that is the engine itself; then {_SMALLER}.",
        terminal=True,
    ),
    FaultRule(
        None,
        re.compile(_NO_MEMORY),
        _NO_MEMORY_HINTS,
        "The GPU had no memory left.",
        f"See who else holds memory on it, then {_SMALLER}.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"std::bad_alloc|oom-kill|Out of memory: Killed process|\bBus error\b|signal 7\b"),
        ("bad_alloc", "oom-kill", "Killed process", "Bus error", "signal 7"),
        "The host had no memory left (or too little /dev/shm).",
        "See `dmesg` for the OOM killer; give the container more memory and /dev/shm.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"Cannot allocate memory|\bMemoryError\b|DefaultCPUAllocator: (?:can't|not enough)"),
        ("Cannot allocate", "MemoryError", "CPUAllocator"),
        "The host had no memory left for a buffer.",
        "Give the container more memory, or load with fewer processes at once.",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"[Ss]ignal:? 9\b|(?i:exit ?code)[:= ]{1,3}(?:-9|137)\b"),
        ("ignal 9", "ignal: 9", "-9", "137"),
        "A process was killed from outside (signal 9), most often by the kernel for lack of host memory.",
        "See `dmesg` for the OOM killer; give the container more memory, or load with fewer processes.",
        weight=Weight.CONSEQUENCE,
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"^(?:\S{1,200}: line \d+: +\d+ )?Killed(?: |$)"),
        ("Killed",),
        "The server was killed from outside (signal 9), most often by the kernel for lack of host memory.",
        "See `dmesg` for the OOM killer; give the container more memory.",
        # An engine that ends its own tree so prints it as well, so anything else says more.
        weight=Weight.ECHO,
        terminal=True,
    ),
)  # fmt: skip

_MACHINE = (
    FaultRule(
        FaultKind.PORT_IN_USE,
        re.compile(
            r"(?:TCPStore|DistNetworkError|server socket has failed to listen).{0,300}?"
            r"(?:EADDRINUSE|address already in use)"
        ),
        ("already in use", "EADDRINUSE"),
        "The port at which the ranks meet is taken by another program or an earlier run.",
        "Find it with `ss -ltnp` and stop it, or give another port (--dist-init-addr, --master-port).",
        phase=Phase.DISTRIBUTED,
    ),
    FaultRule(
        FaultKind.PORT_IN_USE,
        re.compile(
            r"^(?!.{0,200}NCCL INFO).{0,400}?(?:\[Errno (?:98|48)\]|[Aa]ddress already in use|EADDRINUSE)"
        ),
        ("Errno 98", "Errno 48", "already in use", "EADDRINUSE"),
        PORT_CAUSE,
        PORT_STEP,
        terminal=True,
    ),
    FaultRule(
        FaultKind.DRIVER,
        re.compile(
            r"Error 80[34]\b|driver version is insufficient|no kernel image is available"
            r"|invalid device ordinal|No CUDA GPUs are available|unsupported display driver"
            r"|CUDA driver initialization failed"
            r"|Found no NVIDIA driver|No HIP GPUs are available|forward compatibility was attempted"
        ),
        ("Error 80", "insufficient", "kernel image", "ordinal", "No CUDA", "No HIP", "display driver",
         "NVIDIA driver", "driver initialization", "forward compat"),
        "The GPU driver, the CUDA libraries and the visible devices do not fit together.",
        "Compare `nvidia-smi` with the image's CUDA version, CUDA_VISIBLE_DEVICES with the GPUs asked for.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.DRIVER,
        re.compile(
            r"illegal memory access|unspecified launch failure|device-side assert triggered"
            r"|misaligned address|illegal instruction was encountered|uncorrectable (?:ECC|NVLink)"
            r"|GPU is lost|^Failed: Cuda error"
        ),
        ("illegal memory", "launch failure", "assert triggered", "misaligned", "illegal instruction",
         "uncorrectable", "is lost", "Cuda error"),
        "A GPU kernel failed; every later CUDA call of that process fails with it.",
        "Look for an Xid (`dmesg | grep -i xid`), then try without custom all-reduce and CUDA graphs.",
        terminal=True,
    ),
    FaultRule(
        FaultKind.DRIVER,
        re.compile(
            r"CUBLAS_STATUS_(?:NOT_INITIALIZED|EXECUTION_FAILED|INTERNAL_ERROR)|CUDNN_STATUS_\w+"
            r"|CUDA error: \w"
        ),
        ("CUBLAS_", "CUDNN_", "CUDA error: "),
        "A call to the GPU failed.",
        "Look for an Xid in the kernel log (`dmesg | grep -i xid`); see whether the GPU's memory was full.",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(
            r"Fatal Python error: |!{5} Segfault encountered|Segmentation fault|[Ss]ignal:? 11\b"
            r"|(?i:exit ?code)[:= ]{1,3}(?:-11|139)\b"
        ),
        ("Fatal Python", "Segfault", "Segmentation", "ignal 11", "ignal: 11", "-11", "139"),
        "A process crashed in native code.",
        "Read the stack that follows, if any; look for an Xid in the kernel log; try without CUDA graphs.",
        weight=Weight.CONSEQUENCE,
    ),
)  # fmt: skip

_RANKS = (
    FaultRule(
        FaultKind.NCCL,
        re.compile(
            r"Watchdog caught collective|ncclSystemError|ncclUnhandled|ncclInternalError|ncclRemoteError"
            r"|NCCL error"
        ),
        ("collective", "ncclSystem", "ncclUnhandled", "ncclInternal", "ncclRemote", "NCCL error"),
        "The ranks could not talk to each other, or one of them was not there.",
        "See which rank is missing; try NCCL_DEBUG=INFO, and NCCL_P2P_DISABLE=1 to leave peer access out.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
    ),
    FaultRule(
        FaultKind.NCCL,
        re.compile(
            r"connectFullMesh failed|Connection closed by peer|Connection reset by peer.*(?:gloo|pair\.cc)"
            r"|gloo.*pair\.cc|Timed out waiting \d+ms for (?:send|recv) operation"
            r"|DistStoreError|DistNetworkError|TCPStore"
        ),
        ("FullMesh", "by peer", "pair.cc", "Timed out", "DistStore", "DistNetwork", "TCPStore"),
        "A rank lost the connection to another one, which may have failed first.",
        "Read the other ranks' logs for the first failure; between nodes check NCCL_ and GLOO_SOCKET_IFNAME.",
        weight=Weight.CONSEQUENCE,
    ),
)  # fmt: skip

_MODEL = (
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(
            r"Repo id must be in the form|does not appear to have (?:a file|any file) named"
            r"|is not a (?:local folder|valid model)|LocalEntryNotFound|OfflineModeIsEnabled"
            r"|(?:Repository|Revision|Entry)NotFound|GatedRepo|gated repo"
            r"|Can't load (?:the )?(?:tokenizer|config)|No model weights found|Incorrect path_or_model_id"
            r"|(?:40[134] Client Error|couldn't connect to|Max retries exceeded).{0,200}huggingface\.co"
            r"|No such file or directory.*\.(?:safetensors|gguf|json|bin|pt|pth)\b"
        ),
        ("Repo id", "does not appear", "is not a", "LocalEntry", "OfflineMode", "NotFound", "GatedRepo",
         "gated repo", "Can't load", "No such file", "weights found", "path_or_model_id", "huggingface.co"),
        "The model, or a file of it, is not where the engine looks for it.",
        "Check the model's path or name, the download, and the access token.",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(
            r"SafetensorError|MetadataIncompleteBuffer|incomplete metadata|HeaderTooLarge"
            r"|InvalidHeaderDeserialization|PytorchStreamReader failed"
        ),
        ("Safetensor", "etadata", "HeaderToo", "InvalidHeader", "StreamReader"),
        "A weight file is cut off or damaged.",
        "Compare the file sizes with the repository's and download the file again.",
        phase=Phase.WEIGHTS,
    ),
    FaultRule(
        FaultKind.COMPILE,
        re.compile(
            r"\b(?:nvcc|cicc|ptxas|ninja)\b.*(?:[Ee]rror|failed|fatal)|InductorError|BackendCompilerFailed"
            r"|CompilationError|torch\._dynamo\.exc\.|Error building extension|TorchRuntimeError"
            r"|InternalTorchDynamoError"
        ),
        ("nvcc", "cicc", "ptxas", "ninja", "Inductor", "Compil", "_dynamo", "Error building", "TorchRuntime",
         "DynamoError"),
        "Compiling a kernel or a graph failed.",
        "Look at the compiler's own lines above; try without torch.compile, or clear the compile cache.",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"does not recognize this architecture|[Cc]ouldn't instantiate the backend tokenizer"
            r"|Tokenizer class \S+ does not exist|Unrecognized model in|unrecognized arguments|invalid choice"
            r"|Unsupported architecture|[Uu]nknown quantization|are not supported for now|is not divisible"
            r"|must be divisible|not supported on this|Only SM \S+ .*supported|only supports sm\d+"
            r"|trust_remote_code=True|\d+ validation errors? for \w+"
        ),
        ("recognize", "ouldn't instantiate", "Tokenizer class", "nrecognized", "invalid choice",
         "Unsupported", "not supported", "nknown quant", "divisible", "Only SM", "only supports",
         "trust_remote", "validation error"),
        "The engine cannot run this model with these settings on this hardware.",
        "Compare the engine's version and arguments with what the model asks for.",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"^(?:ModuleNotFoundError|ImportError)\b"),
        ("ModuleNotFound", "ImportError"),
        "A Python package or library is missing or of another version than the engine needs.",
        "Install the versions that this release of the engine names, or use its own container image.",
        weight=Weight.ERROR,
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"\bTimeoutError\b|timed out|Timed out"),
        ("TimeoutError", "imed out"),
        "Something that was waited for did not come in time.",
        "See what the slowest process was doing before this line.",
        weight=Weight.CONSEQUENCE,
    ),
)  # fmt: skip

COMMON_FAULTS: tuple[FaultRule, ...] = (*_MEMORY, *_MACHINE, *_RANKS, *_MODEL)
