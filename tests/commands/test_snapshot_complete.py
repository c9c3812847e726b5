"""When one snapshot has heard everything there is to hear."""

from watched_host import Watch, WatchedHost

from tui.commands.snapshot import complete


def loaded(watched: Watch, **options: object) -> WatchedHost:
    host = watched(**options)
    host.hello()
    host.driver("absent", "no driver")
    host.starts()
    return host


def test_a_snapshot_waits_for_every_rung_above_a_good_health_answer(watched: Watch) -> None:
    host = loaded(watched)
    host.probe("port", "ok")
    host.probe("health", "ok", latency_ms=1002.0)
    assert not complete(host.state)
    host.probe("models", "ok", models=[host.state.expected_model or "any"])
    assert not complete(host.state)
    host.probe("token", "ok", model=host.state.expected_model)
    assert complete(host.state)


def test_a_snapshot_ends_at_the_first_rung_that_is_not_reached(watched: Watch) -> None:
    host = loaded(watched)
    host.probe("port", "ok")
    host.probe("health", "status", status=503)
    assert complete(host.state)


def test_a_refused_port_is_answer_enough(watched: Watch) -> None:
    host = loaded(watched)
    assert not complete(host.state)
    host.refuses()
    assert complete(host.state)


def test_only_the_rung_that_counts_is_waited_for(watched: Watch) -> None:
    host = loaded(watched, ready_on="health")
    host.probe("port", "ok")
    host.probe("health", "ok")
    assert complete(host.state)
