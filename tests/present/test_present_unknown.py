"""What is not known yet is not said."""

from msgspec.structs import replace
from watched_host import Watch, WatchedHost

from tui.benchmark import BenchProgress
from tui.present.bench import bench_panel
from tui.present.header import header, status
from tui.present.readiness import ladder


def test_no_server_is_said_only_after_the_processes_were_seen(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.driver("absent", "No NVIDIA driver was found here")
    assert "no server" not in status(host.state, host.now)
    host.processes()
    assert "no NVIDIA driver and no server here" in status(host.state, host.now)


def test_a_benchmark_has_no_rate_before_its_first_token(host: WatchedHost) -> None:
    host.state.bench.started("r1")
    host.bench_progress(0)
    progress = host.state.bench.progress
    assert isinstance(progress, BenchProgress)
    host.happen(replace(progress, stage="preflight", requests=1, output_tokens=0, output_tokens_per_s=0.0))
    assert bench_panel(host.state).headline == "first request, 0 of 1 request, 4 in flight"


def test_a_rung_that_is_asked_and_has_not_answered_is_named(host: WatchedHost) -> None:
    host.starts()
    assert ladder(host.state).headline == "not ready: not asked yet"
    for rung in ("port", "health", "models"):
        host.probe(rung, "ok", models=["qwen"] if rung == "models" else None)
    assert ladder(host.state).headline == "not ready: first token: no answer yet"


def test_where_no_process_can_be_seen_a_server_is_not_known_instead_of_absent(host: WatchedHost) -> None:
    assert host.state.hello is not None
    assert header(host.state, host.now).phase == "no server"
    host.state.hello = replace(host.state.hello, python="")
    assert header(host.state, host.now).phase == "server not known"


def test_on_a_host_that_was_named_it_is_not_said_to_name_one(watched: Watch) -> None:
    host = watched()
    host.hello()
    host.driver("absent", "No NVIDIA driver was found here")
    host.processes()
    told = status(host.state, host.now, "gpu-box")
    assert "no NVIDIA driver and no server there" in told
    assert "tminus HOST" not in told
