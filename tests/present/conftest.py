"""A host with two GPUs, seen for a moment, on which nothing runs yet."""

import pytest
from watched_host import Watch, WatchedHost


@pytest.fixture
def host(watched: Watch) -> WatchedHost:
    watched_host = watched()
    watched_host.hello()
    watched_host.driver("ok")
    watched_host.facts(2)
    watched_host.gpus(615.0, 615.0)
    watched_host.processes()
    return watched_host
