"""Failures that any engine's log may tell of: what the line says, why it happens, what to do next.

Rows are tried in order after the engine's own; the first that is found counts. Texts are those of PyTorch,
CUDA, NCCL, gloo, the Hugging Face libraries, CPython and the operating system, as quoted in public issues. A
row is ``terminal`` only where no load goes on after such a line; most are so ``while_loading``: a server that
serves catches nearly anything. An exception that nobody caught is an end anyway.
"""

import re

from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import FaultRule

PORT_CAUSE = "Another program listens on the port that this server wants."
PORT_STEP = "Find it with `ss -ltnp`, stop it or give this server another --port."

# Not behind a quotation mark, unless it is that of a raise statement: prompts and arguments quote anything.
# The exception's or the driver's own form: advice on what to do about it holds the mere words.
_NO_MEMORY = (
    r"^(?:\s*raise [\w.]+\([rf]{0,2}[\"'])?[^\"']{0,300}?(?:OutOfMemoryError(?:[:(]|\s*$)"
    r"|(?:CUDA|HIP) out of memory\. ?Tried|(?:CUDA|HIP)(?: driver)? error: out of memory"
    r"|\w(?:Error|Exception): (?:CUDA|HIP) out of memory|Cuda failure (?:\d+ )?'out of memory')"
)
_HELD_BY = r".{0,300}?Process (?P<pid>\d+) has (?P<held>[\d.]+ [KMGT]iB) memory in use"
_NO_MEMORY_HINTS = ("OutOfMemory", "out of memory")
# A shell's report that a command ended by a signal: "x.sh: line 3: 55 Killed  python3 -m sglang…".
_SHELL = r"\S{1,200}: line \d{1,9}: +\d{1,9} "
_ENDED = r"(?:Killed|Bus error|Segmentation fault|Aborted|Illegal instruction) +(?:\(core dumped\) +)?"
_SERVERS = (
    r"(?:python|vllm|sglang|llama|trtllm|tensorrt|text-generation|tgi|lmdeploy|ollama|torchrun|mpirun|ray\b"
    r"|uvicorn|gunicorn|server|serve\b)"
)
# What another program's end says of the server: nothing.
_NO_HELPER = rf"^(?!{_SHELL}{_ENDED}(?![( ])(?!.{{0,400}}?{_SERVERS})\S)"
_SMALLER = "give the engine a smaller share or a smaller maximum"

_NO_HOST_MEMORY = "The host had no memory left (or too little /dev/shm)."
_MORE_HOST_MEMORY = "See `dmesg` for the OOM killer; give the container more memory and /dev/shm."

_MEMORY = (
    FaultRule(
        None,
        re.compile(rf"(?:{_NO_MEMORY}){_HELD_BY}.{{0,200}}?this process has"),
        _NO_MEMORY_HINTS,
        "The GPU had no memory left: another process (pid {pid}) holds {held} of it.",
        f"See with `nvidia-smi` what process {{pid}} is and end it if it is a leftover; else {_SMALLER}.",
        terminal=True,
        while_loading=True,
        versions="PyTorch 2.0+, NVIDIA driver with NVML",
    ),
    FaultRule(
        None,
        # In a container the driver's process ids are not its own, so that this may be the engine itself.
        re.compile(rf"(?:{_NO_MEMORY}){_HELD_BY}"),
        _NO_MEMORY_HINTS,
        "The GPU had no memory left: process {pid} of the host, this one or another, holds {held} of it.",
        f"See with `nvidia-smi` on the host whether that is the engine itself; then {_SMALLER}.",
        terminal=True,
        while_loading=True,
        versions="PyTorch 2.0+, in a container",
    ),
    FaultRule(
        None,
        re.compile(_NO_MEMORY),
        _NO_MEMORY_HINTS,
        "The GPU had no memory left.",
        f"See who else holds memory on it, then {_SMALLER}.",
        terminal=True,
        while_loading=True,
        versions="PyTorch 1.13+, CUDA 11+, ROCm 5+",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(_NO_HELPER + rf"(?:{_SHELL}|Fatal Python error: )Bus error\b"),
        ("Bus error",),
        _NO_HOST_MEMORY,
        _MORE_HOST_MEMORY,
        terminal=True,
        versions="CPython 3.8+, shells of Linux images",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(
            _NO_HELPER + r".{0,2000}?(?:std::bad_alloc|oom-kill|Out of memory: Killed process|\bBus error\b"
            r"|signal 7\b)"
        ),
        ("bad_alloc", "oom-kill", "Killed process", "Bus error", "signal 7"),
        _NO_HOST_MEMORY,
        _MORE_HOST_MEMORY,
        terminal=True,
        while_loading=True,
        versions="C++ libraries and Linux kernels of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"Cannot allocate memory|\bMemoryError\b|DefaultCPUAllocator: (?:can't|not enough)"),
        ("Cannot allocate", "MemoryError", "CPUAllocator"),
        "The host had no memory left for a buffer.",
        "Give the container more memory, or load with fewer processes at once.",
        versions="CPython 3.8+, PyTorch 1.13+, Linux 5+",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"[Ss]ignal:? 9\b|(?i:exit ?code)[:= ]{1,3}(?:-9|137)\b"),
        ("ignal 9", "ignal: 9", "-9", "137"),
        "A process was killed from outside (signal 9), most often by the kernel for lack of host memory.",
        "See `dmesg` for the OOM killer; give the container more memory, or load with fewer processes.",
        weight=Weight.CONSEQUENCE,
        versions="CPython 3.8+, containers of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(_NO_HELPER + rf"(?:{_SHELL})?Killed(?: |$)"),
        ("Killed",),
        "The server was killed from outside (signal 9), most often by the kernel for lack of host memory.",
        "See `dmesg` for the OOM killer; give the container more memory.",
        # An engine that ends its own tree so prints it as well, so anything else says more.
        weight=Weight.ECHO,
        terminal=True,
        versions="shells of Linux images, 2023 to 2026",
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
        versions="PyTorch 1.13+; DistNetworkError 2.1+",
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
        while_loading=True,
        versions="CPython 3.8+, uvicorn 0.20+",
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
        while_loading=True,
        versions="CUDA 11 to 13, PyTorch 1.13+, ROCm 5+",
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
        while_loading=True,
        versions="CUDA 11 to 13, PyTorch 1.13+; Failed: Cuda error vLLM 0.6+",
    ),
    FaultRule(
        None,
        re.compile(r"CU(?:BLAS|DNN|SOLVER|SPARSE)_STATUS_ALLOC_FAILED|NVRTC_ERROR_OUT_OF_MEMORY"),
        ("_ALLOC_FAILED", "OUT_OF_MEMORY"),
        "A CUDA library found no GPU memory left for itself.",
        f"See who else holds memory on the GPU, then {_SMALLER}.",
        versions="CUDA 11 to 13",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"No space left on device|\[Errno 28\]|\[Errno 122\]|Disk quota exceeded"),
        ("No space left", "Errno 28", "Errno 122", "quota exceeded"),
        "A disk, or the shared memory in /dev/shm, is full.",
        "See `df -h` for the paths of the model, the caches and /tmp, and for /dev/shm (--shm-size, "
        "--ipc=host).",
        versions="Linux 5+, CPython 3.8+",
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
        versions="CUDA 11 to 13, PyTorch 1.13+",
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
        versions="CPython 3.8+, images of 2024 to 2026",
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
        versions="PyTorch 1.13+, NCCL 2.14+; ncclRemoteError 2.13+",
    ),
    FaultRule(
        FaultKind.NCCL,
        re.compile(
            r"client socket has timed out after (?P<ms>\d{1,12})ms while trying to connect to"
            r" \((?P<address>[^)\s]{1,200}, \d{1,5})\)"
        ),
        ("client socket",),
        "This rank never reached the first one at {address}: that did not start, or the network is in "
        "between.",
        "See whether the other node runs and listens there, that all nodes name the same address, and the "
        "firewall.",
        weight=Weight.CONSEQUENCE,
        phase=Phase.DISTRIBUTED,
        versions="PyTorch 1.13+",
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
        versions="gloo of PyTorch 1.13+; DistStoreError, DistNetworkError 2.1+",
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
        versions="huggingface_hub 0.14+, transformers 4.30+",
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
        versions="safetensors 0.3+, PyTorch 1.13+",
    ),
    FaultRule(
        FaultKind.COMPILE,
        re.compile(
            r"\b(?:nvcc|cicc|ptxas|ninja)\b.*(?:[Ee]rror|failed|fatal)|InductorError|BackendCompilerFailed"
            r"|CompilationError|torch\._dynamo\.exc\.|Error building extension|TorchRuntimeError"
            r"|InternalTorchDynamoError|Failed to find C compiler|Could not find nvcc"
            r"|OutOfResources: |out of resource: shared memory"
        ),
        ("C compiler", "OutOfResources", "out of resource", "nvcc", "cicc", "ptxas", "ninja", "Inductor",
         "Compil", "_dynamo", "Error building", "TorchRuntime",
         "DynamoError"),
        "Compiling a kernel or a graph failed.",
        "Look at the compiler's own lines above; try without torch.compile, or clear the compile cache.",
        versions="CUDA 11 to 13, PyTorch 2.0+, Triton 2.0+",
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
        versions="transformers 4.30+, argparse of CPython 3.8+, pydantic 2",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"Attempted to load weight \(|[Ss]hape mismatch.{0,200}(?:weight|param|checkpoint)"),
        ("Attempted to load", "hape mismatch"),
        "A weight of the checkpoint has not the shape that the model wants.",
        "Compare the model's configuration, quantisation and parallel sizes with its weights.",
        phase=Phase.WEIGHTS,
        versions="vLLM 0.6+ and SGLang 0.4+, which share these loaders",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"^(?:ModuleNotFoundError|ImportError)\b"),
        ("ModuleNotFound", "ImportError"),
        "A Python package or library is missing or of another version than the engine needs.",
        "Install the versions that this release of the engine names, or use its own container image.",
        weight=Weight.ERROR,
        versions="CPython 3.8+",
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"\bTimeoutError\b|timed out|Timed out"),
        ("TimeoutError", "imed out"),
        "Something that was waited for did not come in time.",
        "See what the slowest process was doing before this line.",
        weight=Weight.CONSEQUENCE,
        versions="CPython 3.8+, PyTorch 1.13+",
    ),
)  # fmt: skip

COMMON_FAULTS: tuple[FaultRule, ...] = (*_MEMORY, *_MACHINE, *_RANKS, *_MODEL)
