"""Why llama.cpp could not load a model: the texts of its loader and of its server, in a table of their own.

The loader's rows also serve programs that run llama.cpp inside (Ollama). A failure while parameters are
fitted to the device is told twice, since the load tries again: no line of the loader ends the load, only
the server's.
"""

import re

from tui.engines.faults import PORT_CAUSE, PORT_STEP
from tui.engines.marks import FaultKind, Weight
from tui.engines.rules import FaultRule

_FEWER_LAYERS = (
    "See who else uses that memory, then load fewer layers (-ngl), a smaller context (-c) or model."
)

LOADER_FAULTS: tuple[FaultRule, ...] = (
    FaultRule(
        FaultKind.DRIVER,
        re.compile(r"ggml_\w+_init: failed to initialize"),
        ("failed to initialize",),
        "The GPU cannot be used, so the model is loaded into the host's memory, if at all.",
        "Compare `nvidia-smi` with the libraries the program was built for.",
        weight=Weight.CONSEQUENCE,
        versions="builds of 2024 to 2026",
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(r"failed to allocate buffer for kv cache|failed to allocate .{0,40}KV cache"),
        ("failed to allocate",),
        "The KV cache for this context does not fit into memory.",
        "Ask for a smaller context (-c), fewer slots (-np), or a quantised cache (-ctk, -ctv).",
        versions="builds of 2024 to 2026",
    ),
    FaultRule(
        None,
        re.compile(
            r"(?:cudaMalloc|hipMalloc|musaMalloc) failed: out of memory|unable to allocate \S+ buffer"
            r"|failed to allocate (?:CUDA|ROCm|Vulkan|SYCL|MTL|Metal|MUSA|CANN)\w* buffer of size"
            r"|[Mm]emory allocation of size \d+ failed|failed to allocate compute (?:pp )?buffers"
        ),
        ("failed: out of memory", "unable to allocate", "failed to allocate", "failed"),
        "The GPU had no memory left for a buffer.",
        _FEWER_LAYERS,
        versions="builds of 2024 to 2026, ROCm and CUDA back ends from 2023",
    ),
    FaultRule(
        None,
        re.compile(
            r"insufficient memory \(attempted to allocate (?P<size>[\d.]+ \w+)\)"
            r"|failed to allocate (?P<place>CPU)\w* buffer of size|failed to allocate buffer of size \d+"
        ),
        ("insufficient memory", "failed to allocate"),
        "The host had no memory left for a buffer.",
        "Ask for a smaller context (-c) or a smaller quantisation, or give the host more memory.",
        versions="builds of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(r"(?:failed|unable) to open .{1,400}?(?:No such file or directory|Permission denied)"),
        ("to open",),
        "The model file is not there, or may not be read.",
        "Check the path given with -m, as the server's user and inside its container.",
        versions="builds of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(r"error from HF API, response code: \d+|failed to download (?:the )?(?:model|file)"),
        ("error from HF", "failed to download"),
        "The model could not be fetched.",
        "Check the repository's name, the network and the access token (HF_TOKEN).",
        versions="builds of 2025-02 to 2026",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(
            r"error loading model: .{0,300}?(?:not within the file bounds|corrupted or incomplete)"
            r"|error loading model: .{0,300}?reached end of file|(?:invalid|bad) magic\b"
            r"|failed to read (?:magic|header|key-value|tensor)"
        ),
        ("error loading model", "magic", "failed to read"),
        "The model file is cut off or damaged, or is no GGUF file.",
        "Compare its size with the one published and fetch it again.",
        versions="builds of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"error loading model(?: \w+)?: .{0,300}?(?:unknown model architecture|unknown pre-tokenizer"
            r"|missing tensor|wrong number of tensors|has wrong shape|key not found|cannot find tokenizer"
            r"|invalid split)"
        ),
        ("error loading model",),
        "This build cannot read this model.",
        "Use a newer build, or a conversion made for this one.",
        versions="builds of 2023-08 (GGUF) to 2026",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"error loading model(?: \w+)?: (?!.{0,300}failed to load model)"),
        ("error loading model",),
        "The loader gave up.",
        "Read this line: it says what it could not do.",
        weight=Weight.ERROR,
        versions="builds of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"failed to load (?:the )?model|failed to create.?context|failed to initialize the context"
        ),
        ("failed to",),
        "The model could not be loaded.",
        "Read the first error above this line.",
        weight=Weight.ECHO,
        versions="builds of 2023 to 2026",
    ),
)

SERVER_FAULTS: tuple[FaultRule, ...] = (
    FaultRule(
        FaultKind.PORT_IN_USE,
        re.compile(r"couldn't bind (?:HTTP |to )?(?:server )?socket"),
        ("couldn't bind",),
        PORT_CAUSE,
        PORT_STEP,
        terminal=True,
        versions="builds of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"^error: (?:invalid argument|unknown argument|invalid parameter|argument has been removed)"
            r"|^error while handling argument"
        ),
        ("error",),
        "The server does not know an argument, or its value.",
        "Compare the arguments with `llama-server --help` of this build.",
        terminal=True,
        versions="builds of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"^failed to load (?:\w+ )?model, '|^failed to create.?context with model"
            r"|^unable to load (?:\w+ )?model\b"
        ),
        ("failed to", "unable to load"),
        "The server could not load its model.",
        "Read the first error above this line.",
        weight=Weight.REPORT,
        terminal=True,
        versions="builds of 2023 to 2026",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"^exiting due to "),
        ("exiting due to",),
        "The server ended itself.",
        "Read the first error above this line.",
        weight=Weight.REPORT,
        terminal=True,
        versions="2025+",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"GGML_ASSERT\(|^terminate called after throwing"),
        ("GGML_ASSERT(", "terminate called"),
        "The program ended itself at a condition that must not happen.",
        "Search the project's issues for this line; try a newer build.",
        weight=Weight.ERROR,
        terminal=True,
        versions="builds of 2023 to 2026",
    ),
)
