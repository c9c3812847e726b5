"""The benchmark as a watch sees it."""

from watched_host import Watch


def test_a_benchmark_whose_link_is_cut_is_over_and_that_is_said(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.becomes_ready()
    host.bench_progress(done=3)
    assert host.state.bench.running is not None
    host.link("lost")
    assert host.state.bench.running is None
    assert host.state.bench.progress is None
    assert "cut off with the link" in host.state.notices[-1].sentence


def test_a_lost_link_without_a_benchmark_says_nothing_of_one(watched: Watch) -> None:
    host = watched()
    host.starts()
    host.link("lost")
    assert not [each for each in host.state.notices if "benchmark" in each.sentence]


def test_a_result_ends_the_run(watched: Watch) -> None:
    host = watched()
    host.becomes_ready()
    host.bench_progress(done=3)
    host.bench_result()
    assert host.state.bench.running is None
    assert host.state.bench.results[-1].outcome == "done"


def test_a_late_result_of_another_run_does_not_end_the_one_under_way(watched: Watch) -> None:
    host = watched()
    host.becomes_ready()
    host.state.bench.started("r2")
    host.bench_result()
    assert host.state.bench.running == "r2"
