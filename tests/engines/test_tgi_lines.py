"""What the lines of Text Generation Inference mean."""

import pytest

from tui.engines.marks import FaultKind, Mark, MarkKind, Weight
from tui.engines.phase import Phase
from tui.engines.reader import LineReader
from tui.engines.tgi import TGI
from tui.watch.phases import LogPhases

AT = "2025-07-04T12:35:09.843563Z  "
LAUNCHER = AT + "INFO text_generation_launcher: "
SHARDS = AT + "INFO shard-manager: text_generation_launcher: "
OLD_SHARDS = AT + "INFO shard-manager{rank=0}: text_generation_launcher: "
ROUTER = AT + "INFO text_generation_router::server: router/src/server.rs:2298: "
ROUTER_V3 = AT + "INFO text_generation_router_v3: backends/v3/src/lib.rs:125: "
FAILED = AT.rstrip() + " ERROR "
KILLED = FAILED + "shard-manager: text_generation_launcher: Shard process was signaled to "


def mark(line: str) -> Mark:
    marks = LineReader(TGI).read(line).marks
    assert len(marks) == 1, marks
    return marks[0]


def after(*lines: str) -> LogPhases:
    phases = LogPhases(TGI)
    for number, line in enumerate(lines, 1):
        phases.read(line, number)
    return phases


@pytest.mark.parametrize(
    ("line", "kind", "phase"),
    [
        (LAUNCHER + "Args {", MarkKind.START, Phase.LAUNCH),
        (LAUNCHER + 'Args { model_id: "m", revision: None }', MarkKind.START, Phase.LAUNCH),
        (LAUNCHER + "Sharding model on 2 processes", MarkKind.WITHIN, Phase.LAUNCH),
        (LAUNCHER + "Using attention flashinfer - Prefix caching 0", MarkKind.WITHIN, Phase.LAUNCH),
        (
            AT + "INFO download: text_generation_launcher: Starting check and download process for m",
            MarkKind.WITHIN,
            Phase.WEIGHTS,
        ),
        (
            AT + "INFO download: text_generation_launcher: Successfully downloaded weights for m",
            MarkKind.WITHIN,
            Phase.WEIGHTS,
        ),
        (SHARDS + "Starting shard rank=1", MarkKind.BEGINS, Phase.WEIGHTS),
        (
            AT + "INFO shard-manager{rank=0}: text_generation_launcher: Starting shard 0",
            MarkKind.BEGINS,
            Phase.WEIGHTS,
        ),
        (LAUNCHER + "Server started at unix:///tmp/text-generation-server-0", MarkKind.WITHIN, Phase.WEIGHTS),
        (SHARDS + "Shard ready in 48.277857716s rank=0", MarkKind.ENDS, Phase.WEIGHTS),
        (LAUNCHER + "Starting Webserver", MarkKind.BEGINS, Phase.WARMUP),
        (ROUTER_V3 + "Warming up model", MarkKind.BEGINS, Phase.WARMUP),
        (LAUNCHER + "KV-cache blocks: 52719, size: 1", MarkKind.WITHIN, Phase.KV_CACHE),
        (LAUNCHER + "Cuda Graphs are enabled for sizes [32, 16, 8, 4, 2, 1]", MarkKind.WITHIN, Phase.CAPTURE),
        (ROUTER_V3 + "Setting max batch total tokens to 52125", MarkKind.WITHIN, Phase.START_API),
        (ROUTER + "Connected", MarkKind.READY, Phase.READY),
        (
            "2024-05-21T12:39:22.141601Z  INFO text_generation_router: router/src/main.rs:355: Connected",
            MarkKind.READY,
            Phase.READY,
        ),
        ("tgi-1  | " + ROUTER + "Connected", MarkKind.READY, Phase.READY),
        (
            ROUTER.split("text")[0]
            + 'generate{parameters=Parameters { best_of: None } total_time="1.2s" time_per_token="25ms"}: '
            "text_generation_router::server: router/src/server.rs:457: Success",
            MarkKind.STEADY,
            Phase.READY,
        ),
        (
            ROUTER + "signal received, starting graceful shutdown",
            MarkKind.SHUTDOWN,
            None,
        ),
        (LAUNCHER + "Terminating webserver", MarkKind.SHUTDOWN, None),
    ],
)
def test_a_line_has_its_meaning(line: str, kind: MarkKind, phase: Phase | None) -> None:
    said = mark(line)
    assert (said.kind, said.phase) == (kind, phase)


@pytest.mark.parametrize(
    "line",
    [
        LAUNCHER + "Cuda Graphs are disabled (CUDA_GRAPHS=None).",
        LAUNCHER + "Connected to the hub",
        LAUNCHER + "Detected system cuda",
        AT + "WARN text_generation_launcher: Could not import Mamba: No module named 'mamba_ssm'",
        "user wrote: Starting shard rank=0",
        "    max_batch_prefill_tokens: None,",
    ],
)
def test_what_only_looks_like_a_line_of_the_load_is_none(line: str) -> None:
    assert LineReader(TGI).read(line).marks == ()


def test_waiting_for_a_shard_is_no_progress() -> None:
    for line in (
        SHARDS + "Waiting for shard to be ready... rank=0",
        SHARDS + "Waiting for shard 1 to be ready... rank=1",
    ):
        said = mark(line)
        assert said.phase is Phase.WEIGHTS
        assert said.heartbeat


def test_the_rank_stands_at_the_end_of_a_line() -> None:
    assert mark(SHARDS + "Starting shard rank=1").speaker.rank == "1"
    assert mark(LAUNCHER + "Starting Webserver").speaker.rank is None


def test_the_shard_that_is_not_ready_holds_the_load_back() -> None:
    phases = after(
        SHARDS + "Starting shard rank=0",
        SHARDS + "Starting shard rank=1",
        SHARDS + "Shard ready in 10.3s rank=1",
    )
    assert [lane.name for lane in phases.lanes.lagging] == ["0"]
    phases.read(SHARDS + "Shard ready in 12.3s rank=0", 4)
    assert phases.lanes.lagging == []


def test_json_output_is_read() -> None:
    line = (
        '{"timestamp":"2024-05-21T12:39:10.284193Z","level":"INFO","fields":{"message":"Starting shard"},'
        '"target":"text_generation_launcher","span":{"rank":0,"name":"shard-manager"}}'
    )
    assert mark(line).kind is MarkKind.BEGINS
    assert LineReader(TGI).read('{"fields":{"message":7}}').marks == ()
    assert LineReader(TGI).read('{"fields":[]}').marks == ()


def test_seconds_are_read_and_milliseconds_are_not_taken_for_them() -> None:
    assert mark(SHARDS + "Shard ready in 48.277857716s rank=0").seconds == pytest.approx(48.277857716)
    assert mark(SHARDS + "Shard ready in 980.12ms rank=0").seconds is None


def test_downloads_and_conversions_are_counted() -> None:
    said = mark(LAUNCHER + "Download: [2/5] -- ETA: 0:00:24")
    assert said.progress is not None
    assert (said.progress.done, said.progress.total, said.progress.unit) == (2, 5, "files")


def test_blocks_of_one_token_are_a_figure_in_tokens() -> None:
    one = mark(LAUNCHER + "KV-cache blocks: 52719, size: 1")
    assert [(figure.name, figure.value) for figure in one.figures] == [("kv_cache_tokens", 52719)]
    assert mark(LAUNCHER + "KV-cache blocks: 3294, size: 16").figures == ()


@pytest.mark.parametrize(
    ("line", "kind", "weight"),
    [
        (
            KILLED + "shutdown with signal 9 rank=0",
            FaultKind.OOM_HOST,
            Weight.CAUSE,
        ),
        (
            KILLED + "shutdown with signal 7 rank=0",
            FaultKind.OOM_HOST,
            Weight.CAUSE,
        ),
        (
            KILLED + "shutdown with signal 11 rank=0",
            FaultKind.RANK_DIED,
            Weight.REPORT,
        ),
        (FAILED + "text_generation_launcher: Shard 0 failed to start", FaultKind.RANK_DIED, Weight.REPORT),
        (FAILED + "text_generation_launcher: Shard 1 crashed", FaultKind.RANK_DIED, Weight.REPORT),
        (
            FAILED + "warmup{max_input_length=1024 max_prefill_tokens=4096}:warmup: text_generation_client: "
            "router/client/src/lib.rs:33: Server error: Not enough memory to handle 4096 prefill tokens. "
            "You need to decrease `--max-batch-prefill-tokens`",
            FaultKind.OOM_KV,
            Weight.CAUSE,
        ),
        (
            FAILED + "warmup{max_input_length=4095 max_batch_size=None}:warmup: text_generation_client: "
            "router/client/src/lib.rs:46: Server error: CANCELLED",
            FaultKind.WARMUP_FAILED,
            Weight.CONSEQUENCE,
        ),
        ('Error: WebServer(Warmup(Generation("CANCELLED")))', FaultKind.WARMUP_FAILED, Weight.CONSEQUENCE),
        (FAILED + "text_generation_launcher: Webserver Crashed", FaultKind.UNKNOWN, Weight.ECHO),
        ("Error: ShardCannotStart", FaultKind.UNKNOWN, Weight.ECHO),
        (
            FAILED + "download: text_generation_launcher: Download encountered an error: ",
            FaultKind.MISSING_MODEL,
            Weight.REPORT,
        ),
    ],
)
def test_a_failure_ends_the_load_and_has_its_kind(line: str, kind: FaultKind, weight: Weight) -> None:
    fault = mark(line).fault
    assert fault is not None
    assert (fault.kind, fault.weight, fault.terminal) == (kind, weight, True)


def test_the_cause_is_what_the_shard_wrote_not_what_the_launcher_made_of_it() -> None:
    phases = after(
        SHARDS + "Starting shard rank=0",
        FAILED + "shard-manager: text_generation_launcher: Shard complete standard error output:",
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 224.00 MiB.",
        FAILED + "text_generation_launcher: Shard 0 failed to start",
        LAUNCHER + "Shutting down shards",
        "Error: ShardCannotStart",
    )
    assert (phases.outcome, phases.phase) == ("failed", Phase.WEIGHTS)
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.OOM_WEIGHTS, 3)


def test_an_exception_behind_pytorchs_rank_is_the_cause() -> None:
    phases = after(
        SHARDS + "Starting shard rank=1",
        FAILED + "shard-manager: text_generation_launcher: Shard complete standard error output:",
        "[rank1]: Traceback (most recent call last):",
        '[rank1]:   File "/opt/conda/bin/text-generation-server", line 8, in <module>',
        "[rank1]:     sys.exit(app())",
        "[rank1]: ValueError: some weights are not there",
        " rank=1",
        FAILED + "text_generation_launcher: Shard 1 failed to start",
    )
    assert phases.outcome == "failed"
    assert phases.cause is not None
    assert (phases.cause.kind, phases.cause.quote.number) == (FaultKind.UNKNOWN, 6)


def test_a_stop_that_was_asked_for_is_no_failure() -> None:
    phases = after(
        ROUTER + "Connected",
        ROUTER + "signal received, starting graceful shutdown",
        LAUNCHER + "Shutting down shards",
    )
    assert (phases.outcome, phases.phase) == ("stopped", Phase.READY)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("text-generation-launcher --model-id m --num-shard 2", "launcher"),
        ("/usr/local/bin/text-generation-router --port 80", "controller"),
        ("/opt/conda/bin/python /opt/conda/bin/text-generation-server serve m --sharded", "rank"),
    ],
)
def test_a_process_has_its_role(command: str, words: str) -> None:
    assert TGI.role(command).words == words
