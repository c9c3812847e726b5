"""How SGLang fails, 0.4.0 to 0.5.23: its own texts, and the echoes that one process makes of another's end.

A scheduler that raises prints "Scheduler hit an exception" and signals its parent, which kills the tree;
the parent's line is often printed before the traceback. Exit status 137 is the usual end of that, no proof of
the host's OOM killer. What other engines and libraries say as well is in ``faults.py``, and is looked for
before the rows that only repeat it.
"""

import re

from tui.engines.faults import COMMON_FAULTS, PORT_STEP
from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import FaultRule

KILLED = (
    "See `dmesg -T | grep -i oom` on the host; give the container more memory, or load with fewer processes."
)
READ_ABOVE = "Read the exception and the traceback beside this line."

_CAUSES = (
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(r"Not enough GPU memory for hybrid|Not enough memory\. Please try to increase"),
        ("Not enough",),
        "After the weights no memory is left for the KV cache within the share that SGLang may use.",
        "Raise --mem-fraction-static, use more GPUs or a smaller model; see that nothing else holds "
        "memory there.",
        terminal=True,
        versions="all; hybrids 0.5.14",
        phase=Phase.KV_CACHE,
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(r"max_total_tokens=\d+ is larger than the profiled value -"),
        ("larger than",),
        "The weights take more than SGLang's share of the GPU, so that less than nothing is left for the "
        "KV cache.",
        "Raise --mem-fraction-static, use more GPUs or a smaller model.",
        versions="all; a positive value there is a warning of no harm",
        phase=Phase.KV_CACHE,
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(r"(?:Prefill|Decode) out of memory\. Try to lower your batch size"),
        ("out of memory",),
        "The KV cache had no room left for the requests under way.",
        "Lower --max-running-requests or raise --mem-fraction-static; with defaults this should not happen.",
        versions="all seen (0.4.0 to 0.5.23)",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"Not enough host memory (?:available|for V4|for DSA|for MiniMax)"),
        ("Not enough",),
        "The host has less memory than the hierarchical KV cache asks for.",
        "Lower --hicache-ratio or --hicache-size, or leave --enable-hierarchical-cache out.",
        terminal=True,
        versions="0.4.6+",
    ),
    FaultRule(
        FaultKind.OOM_WEIGHTS,
        re.compile(r"Error: The memory capacity is unbalanced"),
        ("unbalanced",),
        "One GPU has far less free memory than another: something else holds memory on it.",
        "Find it with `nvidia-smi` and end it, or choose other GPUs with CUDA_VISIBLE_DEVICES.",
        terminal=True,
        versions="all; without the exception's name it is a warning",
        phase=Phase.DISTRIBUTED,
    ),
    FaultRule(
        FaultKind.PORT_IN_USE,
        re.compile(
            r"Port is already in use\. |_port at \S+ is not available in \d+ seconds|bootstrap_port \d+ is"
            r" already in use"
        ),
        ("already in use", "is not available"),
        "Another program listens on a port that SGLang wants between its own processes.",
        PORT_STEP,
        terminal=True,
        versions="0.5.5+",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"^(?:launch_server\.py|sglang(?: \w+)?): error: (?P<what>[^\n]{1,120})"),
        (": error: ",),
        "SGLang does not take these arguments: {what}.",
        "Compare them with `python3 -m sglang.launch_server --help` of this version.",
        terminal=True,
        phase=Phase.LAUNCH,
        versions="all seen (0.4.0 to 0.5.23): argparse's words",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"SGLang only supports sm\d+ and above"),
        ("only supports",),
        "The GPU is older than what SGLang runs on.",
        "Use a GPU of a newer generation, or an engine that still supports this one.",
        terminal=True,
        versions="all seen (0.4.0 to 0.5.23)",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"does not recognize this architecture"),
        ("recognize",),
        "The installed Transformers is too old for this model.",
        "Use an image of SGLang made for this model, or upgrade transformers in it.",
        versions="transformers 4 and 5 in images of 0.4.0 to 0.5.23",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"KeyError: '(?P<name>[\w.]{1,200}\.(?:q?weight|bias|weight_scale(?:_inv)?|input_scale|qzeros"
            r"|scales))'"
        ),
        ("KeyError",),
        "The checkpoint holds a weight ({name}) that the model has no place for: it is for another "
        "architecture.",
        "See that model and draft model (--speculative-draft-model-path) belong together and to this "
        "version of SGLang.",
        phase=Phase.WEIGHTS,
        versions="public reports of 0.4 to 0.5",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"FlashAttention on \S+ cards only supports"),
        ("only supports",),
        "The attention kernel for this GPU does not take the type of the KV cache.",
        "Use --kv-cache-dtype auto, or another --attention-backend.",
        versions="public reports of 0.5",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"is less than the minimum required version|with the minimum required version .* is not"
            r" installed"
        ),
        ("required version",),
        "A library that SGLang needs is missing or too old.",
        "Install the version that this line asks for, or use the image of this release.",
        terminal=True,
        versions="all: flashinfer_python, sgl-kernel, sglang-kernel from 0.5.15",
    ),
    FaultRule(
        FaultKind.DRIVER,
        re.compile(
            r"Could not load any common_ops|undefined symbol: |libcuda\.so\.1: cannot open|libcudart\.so\S*:"
            r" cannot open"
        ),
        ("common_ops", "undefined symbol", "cannot open"),
        "The compiled kernels do not fit the GPU, the CUDA libraries or PyTorch that are installed.",
        "Use the image of this release, or reinstall sgl-kernel for this CUDA version; see that the "
        "container sees the GPUs.",
        versions="public reports of 0.4 to 0.5; common_ops sgl-kernel 0.3+",
    ),
    FaultRule(
        FaultKind.COMPILE,
        re.compile(
            r"No such file or directory: '[^']{0,200}\b(?:ninja|nvcc)'|Ninja build failed"
            r"|ninja: build stopped|Failed to compile|NVCC compilation failed|NVRTC_ERROR"
        ),
        ("No such file", "build failed", "build stopped", "compil", "NVRTC_ERROR"),
        "Compiling a kernel failed.",
        "Read the compiler's own lines above; a full disk, a missing nvcc or too little host memory are "
        "usual reasons.",
        versions="public reports of 0.4 to 0.5, FlashInfer 0.2+",
    ),
    FaultRule(
        FaultKind.WARMUP_FAILED,
        re.compile(r"AssertionError: res=<Response \[(?P<code>\d+)\]>"),
        ("<Response",),
        "The server's own first request was answered with {code}.",
        "502 to 504 come from an HTTP proxy: add the host to no_proxy or unset http_proxy. Else see what "
        "failed before.",
        versions="all; the answer's text alone from 0.5",
        phase=Phase.WARMUP,
    ),
    FaultRule(
        FaultKind.WARMUP_FAILED,
        re.compile(
            r"HTTPS?ConnectionPool\(host='[^']+', port=(?!443\b)\d+\): "
            r"(?:.*url: /(?:get_)?(?:model_info|generate|encode|v1/)|Read timed out\. \(read timeout=\d{3,})"
        ),
        ("ConnectionPool(",),
        "The server's own first request did not reach it or was not answered in time.",
        "See what the schedulers were doing (a JIT compile takes minutes; SGLANG_WARMUP_TIMEOUT), and "
        "whether a proxy or a "
        "wrong --host stands between.",
        phase=Phase.WARMUP,
        versions="requests 2.x in all seen (0.4.0 to 0.5.23); /model_info 0.5.6+",
    ),
)  # fmt: skip

_REPORTS = (
    FaultRule(
        FaultKind.WARMUP_FAILED,
        re.compile(r"Initialization failed\. warmup error"),
        ("warmup error",),
        "The server's own first request did not succeed, so it ended itself.",
        "Read the answer it got, below; a proxy (http_proxy) or a wrong host name can stand between.",
        weight=Weight.ERROR,
        terminal=True,
        phase=Phase.WARMUP,
        versions="all seen (0.4.0 to 0.5.23)",
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"there are other ranks that didn't finish loading"),
        ("other ranks",),
        "A rank had loaded its weights and waited in vain for the others, which failed or were too slow.",
        "See which rank is missing and what it reads from; copy the weights to a local disk.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
        versions="300 s 0.4.3 to 0.5.5, 480 s from 0.5.6",
        phase=Phase.WEIGHTS,
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"successfully reached monitoredBarrier, but received errors .*from rank (?P<rank>\d+)"),
        ("monitoredBarrier",),
        "Rank {rank} was gone when the others met after the weights; it failed first.",
        "Look for the first exception of rank {rank}, perhaps in another node's log.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
        phase=Phase.WEIGHTS,
        versions="gloo of PyTorch 2.x; reported of 0.4.5.post1",
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"Ranks? (?P<rank>[\d, ]+) failed to pass monitoredBarrier in (?P<ms>\d+) ms"),
        ("monitoredBarrier",),
        "Rank {rank} did not come to where the ranks meet after the weights, within {ms} ms.",
        "Look for the first exception of rank {rank}, and at what it reads its weights from.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
        phase=Phase.WEIGHTS,
        versions="gloo of PyTorch 2.x",
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"[Ww]atchdog timeout \((?!.*soft=True)"),
        ("atchdog timeout",),
        "A batch did not finish within the watchdog's time.",
        "Read the stacks that follow; a JIT compile, torch.compile or a lost rank can be the reason "
        "(--watchdog-timeout).",
        weight=Weight.CONSEQUENCE,
        terminal=True,
        versions="all; a soft watchdog (0.5.7+) only tells",
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"DeepEP (?:error: )?timeout|DeepEP dispatch timeout"),
        ("DeepEP",),
        "DeepEP waited 100 s for another rank, which was busy (compiling, as a rule) or gone.",
        "Compile first (`python3 -m sglang.compile_deep_gemm` with the same arguments), and keep the cache.",
        weight=Weight.CONSEQUENCE,
        terminal=True,
        versions="DeepEP 1.x; reported of 0.5.5.post3",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(
            r"Rank \d+ scheduler died.*code: -9\b|^Exit code: -9\b|Subprocess \S+ \(pid=\d+\) crashed with"
            r" exit code -9\b|Scheduler or DataParallelController \d+ terminated with -9\b"
        ),
        ("code: -9", "code -9", "terminated with -9"),
        "A process of the server was killed from outside (-9): by the host's OOM killer, as a rule, or "
        "by a person.",
        KILLED,
        weight=Weight.ERROR,
        terminal=True,
        # A node above the first says "terminated with", and goes on to errors of its own (0.5.14).
        versions="exit code on its own line to 0.5.9 and in the diffusion runtime; in one line 0.5.10+",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(
            r"Rank \d+ scheduler died.*code: (?P<code>-?\d+)|^Exit code: (?P<status>-?[1-9]\d*)\b"
            r"|Subprocess \S+ \(pid=\d+\) crashed with exit code"
            # 0 and the signals of a shutdown are an end that somebody asked for.
            r"|Scheduler or DataParallelController \d+ terminated with (?!0\b|-2\b|-15\b)"
        ),
        ("scheduler died", "Exit code", "crashed with", "terminated with"),
        "A process of the server ended natively, so that it could not say why.",
        "A negative code is a signal: -11 a crash (look for an Xid and at the last kernel), -6 an abort "
        "(NCCL, C++).",
        weight=Weight.CONSEQUENCE,
        terminal=True,
        versions="all; the process watch while serving 0.5.10+",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"Rank \d+ scheduler is dead"),
        ("scheduler is dead",),
        "A scheduler process ended without a word.",
        "Its exit code follows; -9 is a kill from outside.",
        weight=Weight.REPORT,
        terminal=True,
        versions="to 0.5.9, diffusion runtime",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"Fatal Python error: (?P<what>[^\n]{1,80})"),
        ("Fatal Python error",),
        "A process crashed in native code: {what}.",
        "Look at the stack below and for an Xid in the kernel log (`dmesg | grep -i xid`).",
        # NCCL's watchdog says before what it aborts the process for.
        weight=Weight.CONSEQUENCE,
        terminal=True,
        versions="CPython 3.8+",
    ),
)  # fmt: skip

_ECHOES = (
    FaultRule(
        FaultKind.DRIVER,
        re.compile(r"HIP (?:error|failure): "),
        ("HIP error", "HIP failure"),
        "A call to the GPU failed; every later call of that process fails with it.",
        "Look at the kernel log (`dmesg`) for the GPU's faults, and compare the ROCm versions of image "
        "and driver.",
        versions="ROCm 5+",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"Capture (?:[\w -]*(?:cuda|CUDA|cpu|CPU|NPU|XPU) graph|single-CG draft extend) failed:"
            r" *\S"
        ),
        (" failed:",),
        "Capturing a graph failed with what this line says.",
        "--disable-cuda-graph tells whether the model itself runs; the advice below this line comes with "
        "every such failure.",
        weight=Weight.ERROR,
        terminal=True,
        phase=Phase.CAPTURE,
        versions="all seen (0.4.0 to 0.5.23)",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"Capture (?:[\w -]*(?:cuda|CUDA|cpu|CPU|NPU|XPU) graph|single-CG draft extend) failed:"),
        (" failed:",),
        "Capturing a graph failed with an exception that has no text; torch.compile was the reason where "
        "that was found out.",
        "Read the traceback above it; try without --enable-torch-compile, then with "
        "--disable-cuda-graph. It need not be memory.",
        weight=Weight.REPORT,
        terminal=True,
        phase=Phase.CAPTURE,
        versions="all seen (0.4.0 to 0.5.23)",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"DuplicateTimeseries: Duplicated timeseries in CollectorRegistry: \{'sglang:"),
        ("DuplicateTimeseries",),
        "A node above the first went on after its scheduler had ended, and failed at that.",
        "Look above it for \"terminated with\", and for what that scheduler said last.",
        weight=Weight.ECHO,
        versions="seen of 0.5.14, two nodes",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"^EOFError\b"),
        ("EOFError",),
        "The parent lost its pipe to a scheduler.",
        "Look for what that scheduler said last.",
        weight=Weight.ECHO,
        versions="CPython 3.8+",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"(?:Scheduler|DetokenizerManager|DetokenizerRouter|TokenizerManager|DataParallelController)"
            r" hit an exception:"
            r"|Received sigquit from a child proces|SIGQUIT received\."
        ),
        ("hit an exception", "sigquit", "SIGQUIT"),
        "A process of the server failed.",
        READ_ABOVE,
        weight=Weight.ECHO,
        terminal=True,
        versions='all; "proces." to 0.4.1, SIGQUIT while serving 0.5.3+',
    ),
)  # fmt: skip

FAULTS = (*_CAUSES, *_REPORTS, *COMMON_FAULTS, *_ECHOES)
