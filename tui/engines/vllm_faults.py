"""How vLLM's failures read, 0.6 to 0.32; what any engine's log may tell of is in ``faults.py``.

Echoes repeat what another process said before: the worker's traceback comes first, the engine core's next,
the API server's last. A process that was killed, or crashed natively, leaves only a report of its death.
"""

import re

from tui.engines.marks import FaultKind, Weight
from tui.engines.phase import Phase
from tui.engines.rules import FaultRule

_RAISE_KV = "Raise --gpu-memory-utilization, lower --max-model-len, or spread the model over more GPUs."
_KILLED = "See `dmesg` for the OOM killer; give the container more memory, or load with fewer processes."
_CRASHED = (
    "Look in `dmesg` for a segfault or an Xid; custom all-reduce and graphs can be switched off to try."
)

MEMORY = (
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"(?:Available|Free) memory on .{1,80}less than desired CPU memory"),
        ("desired CPU memory",),
        "The host has less free memory than vLLM was told to take (on CPUs --gpu-memory-utilization means "
        "RAM).",
        "Lower --gpu-memory-utilization, or free the host's memory.",
        terminal=True,
        versions="0.22+, CPU",
    ),
    FaultRule(
        FaultKind.OOM_WEIGHTS,
        re.compile(
            r"Free memory on device [^(]{0,40}\((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\).{1,80}less than "
            r".{0,60}?\((?P<share>[\d.]+), (?P<wanted>[\d.]+) GiB\)"
        ),
        ("Free memory on device",),
        "Only {free} of {total} GiB were free on a GPU at the start, and vLLM was to take {wanted} GiB.",
        "End what else holds memory on it (`nvidia-smi`; a worker left behind by an earlier start?), or "
        "lower "
        "--gpu-memory-utilization.",
        terminal=True,
        versions="0.9+",
    ),
    FaultRule(
        FaultKind.OOM_WEIGHTS,
        re.compile(r"Free memory on device .{0,200}less than"),
        ("Free memory on device",),
        "A GPU had less free memory at the start than vLLM was to take.",
        "End what else holds memory on it (`nvidia-smi`), or lower --gpu-memory-utilization.",
        terminal=True,
        versions="0.9+",
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(r"No available memory for the cache blocks"),
        ("No available memory",),
        "Weights and activations leave no memory for the KV cache.",
        _RAISE_KV,
        terminal=True,
        phase=Phase.KV_CACHE,
        versions="all seen (0.6 to 0.32); reported of 0.6.4",
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(
            r"To serve at least one request with the model.{0,10} max seq len \((?P<length>\d+)\), "
            r"\(?(?P<needed>[\d.]+) GiB KV cache is needed, .{0,60}KV cache memory \((?P<free>[\d.]+) GiB\)"
        ),
        ("To serve at least one request",),
        "One request of the maximum length ({length} tokens) needs {needed} GiB of KV cache, and there are "
        "{free}.",
        _RAISE_KV,
        terminal=True,
        versions="0.8+",
        phase=Phase.KV_CACHE,
    ),
    FaultRule(
        FaultKind.OOM_KV,
        re.compile(
            r"To serve at least one request with the model"
            r"|larger than the maximum number of tokens that can be "
            r"stored in KV cache|larger than the available KV cache memory"
        ),
        ("To serve at least one request", "can be stored in KV", "available KV cache memory"),
        "One request of the maximum length does not fit into the KV cache.",
        _RAISE_KV,
        terminal=True,
        phase=Phase.KV_CACHE,
        versions="0.8+ the first sentence, to 0.8 the others; V0",
    ),
    FaultRule(
        FaultKind.OOM_CAPTURE,
        re.compile(
            r"out of memory occurred when warming up (?:the )?(?:sampler|pooler) with (?P<requests>\d+) dummy"
        ),
        ("when warming up",),
        "After the KV cache and the graphs no memory was left to sample for {requests} requests at once.",
        "Lower --max-num-seqs or --gpu-memory-utilization.",
        terminal=True,
        versions="0.8+",
        phase=Phase.WARMUP,
    ),
)

SETTINGS = (
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"^(?:vllm[\w ]{0,20}|api_server\.py|__main__\.py): error: (?P<said>.{1,200})"),
        (": error: ",),
        "vLLM does not take its command line: {said}.",
        "Compare the flags with `vllm serve --help` of this version.",
        terminal=True,
        versions="all seen (0.6 to 0.32): argparse's words",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(r"Cannot provide a placement group"),
        ("placement group",),
        "Ray has not the GPUs that this load asks for, or not under the addresses that the nodes have.",
        "Compare `ray status` with the parallel sizes, and VLLM_HOST_IP with the nodes' addresses.",
        versions="Ray 2.x, 0.7+",
    ),
    FaultRule(
        FaultKind.BAD_CONFIG,
        re.compile(
            r"User-specified max_model_len|ValidationError: \d+ validation error"
            r"|attention heads .{0,40}must be divisible"
            r"|World size .{0,40}larger than the number of available GPUs|Bfloat16 is only supported on GPUs"
            r"|is not supported for the current GPU|failed to be inspected|trust_remote_code=True"
            r"|Model architectures? .{0,200}(?:not supported|failed)|No valid attention backend found"
        ),
        (
            "User-specified",
            "ValidationError",
            "attention heads",
            "World size",
            "Bfloat16",
            "for the current GPU",
            "be inspected",
            "trust_remote_code",
            "Model architecture",
            "attention backend",
        ),
        "vLLM cannot run this model with these settings on these GPUs.",
        "Compare the version and the arguments with what the model asks for.",
        versions="all seen (0.6 to 0.32)",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(r"[Cc]ouldn't instantiate the backend tokenizer|Can't load (?:the )?tokenizer"),
        ("ouldn't instantiate", "Can't load"),
        "No tokenizer can be made of the files that are there.",
        "Put the tokenizer's files into the model's folder or name them with --tokenizer; an old kind needs "
        "the package "
        "sentencepiece or tiktoken.",
        versions="transformers 4.40+; run with 0.32",
    ),
    FaultRule(
        FaultKind.MISSING_MODEL,
        re.compile(
            r"Cannot find any model weights|Cannot find any of .{1,200}model"
            r"|There is no module or parameter named"
            r"|weights were not initialized from checkpoint|KeyError: '[^']{0,300}weight|size mismatch for "
        ),
        ("Cannot find any", "no module or parameter", "not initialized from", "KeyError", "size mismatch"),
        "The weight files are not there, or not those of this model.",
        "Compare the folder with the repository: configuration, index and shards must belong together.",
        versions="all seen (0.6 to 0.32)",
    ),
)

DEATHS = (
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"Timed out waiting for engine|Did not receive response from front-end process"),
        ("Timed out waiting for", "Did not receive response"),
        "One process waited for another until its time was up: loading, compiling or warming up took longer.",
        "Raise VLLM_ENGINE_READY_TIMEOUT_S (600 s), and see what the engine was doing; its processes may "
        "still hold GPUs.",
        terminal=True,
        versions="0.9+; 600 s from 0.13",
    ),
    FaultRule(
        FaultKind.TIMEOUT,
        re.compile(r"RPC call to (?P<call>\w+) timed out"),
        ("RPC call to",),
        "A worker did not answer {call} in time: it hangs, or waits for another one that does.",
        "See which worker is behind (`py-spy dump`), GPU use and Xid; VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS is "
        "the limit.",
        versions="0.8+",
    ),
    FaultRule(
        FaultKind.OOM_HOST,
        re.compile(r"died.{0,30}exit code: -9\b|Failed core proc\(s\): \{[^}]{0,300}: -9\b"),
        ("exit code: -9", ": -9"),
        "A process was killed by signal 9: the host's OOM killer, or a person.",
        _KILLED,
        weight=Weight.REPORT,
        terminal=True,
        versions="V0 0.5+, V1 0.8+ (public reports of 0.5 to 0.26)",
    ),
    # Ended on request, so somebody knew before.
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"died.{0,30}exit code: (?:-15|0)\b"),
        ("exit code: -15", "exit code: 0"),
        "A worker was ended, or ended itself.",
        "Read what came before this line.",
        weight=Weight.ECHO,
        versions="V0 0.5+, reported to 0.8",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(
            r"Segfault encountered|Fatal Python error: |died.{0,30}exit code: -\d"
            r"|Failed core proc\(s\): \{[^}]{0,300}: -\d"
        ),
        ("Segfault", "Fatal Python", "exit code: -", "Failed core"),
        "A process crashed natively, so that it left no traceback.",
        _CRASHED,
        weight=Weight.REPORT,
        terminal=True,
        versions="CPython 3.8+; exit codes V0 0.5+, V1 0.8+",
    ),
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"(?:Worker proc|Worker|Engine core proc) (?P<who>\S+) (?:pid \d+ )?died"),
        (" died",),
        "{who} was killed or crashed natively: it said nothing itself.",
        "See `dmesg` for the OOM killer, a segfault or an Xid.",
        weight=Weight.REPORT,
        terminal=True,
        versions="V0 0.5+, V1 0.8+",
    ),
)

ECHOES = (
    # An engine core that fails in Python says why before this; only one that was killed or crashed does not.
    FaultRule(
        FaultKind.RANK_DIED,
        re.compile(r"Engine core initialization failed|Engine process failed to start"),
        ("Engine core", "Engine process"),
        "The engine core ended before it was ready, without saying why: killed, or a native crash.",
        "See `dmesg` for the OOM killer, a segfault or an Xid; look whether the log holds standard error "
        "too.",
        weight=Weight.ECHO,
        terminal=True,
        versions="V0 0.6+, V1 0.8+",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"EngineCore (?:failed to start|(?:encountered|hit) )|EngineDeadError|WorkerProc failed to start"
            r"|Got fatal signal from worker processes"
        ),
        ("EngineCore", "EngineDeadError", "WorkerProc", "fatal signal"),
        "The engine failed.",
        "Read the first traceback of the lowest process: a worker's before the engine core's.",
        weight=Weight.ECHO,
        terminal=True,
        versions="V1 0.8+",
    ),
    # A ready server goes on after a call that failed (an adapter that cannot be loaded).
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(r"WorkerProc hit an exception"),
        ("WorkerProc",),
        "A worker failed.",
        "Read the traceback that follows.",
        weight=Weight.ECHO,
        terminal=True,
        while_loading=True,
        versions="0.8+",
    ),
    FaultRule(
        FaultKind.UNKNOWN,
        re.compile(
            r"exception in a background process|RuntimeError: cancelled|AsyncLLM output_handler failed"
            r"|Error in (?:chat )?completion stream generator|Background loop (?:has errored|is stopped"
            r"|is not running)"
            r"|Engine loop is not running"
        ),
        (
            "background process",
            "cancelled",
            "output_handler",
            "stream generator",
            "Background loop",
            "Engine loop",
        ),
        "Another process of the engine failed.",
        "Read the first traceback of the lowest process.",
        weight=Weight.ECHO,
        versions="V0 0.6+, V1 0.8+",
    ),
)

FAULTS: tuple[FaultRule, ...] = (*MEMORY, *SETTINGS, *DEATHS, *ECHOES)
