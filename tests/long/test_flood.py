"""A flooded log over a slow link: memory, the age of samples, the answer to a key, and the way out."""

from collections.abc import Callable
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import pytest
from flooded_watch import flooded
from ssh_server import StartSshServer

from tui.watch.log_lag import FAR_S

pytestmark = [pytest.mark.ssh, pytest.mark.long]

SECONDS = 60
CLIENT_MIB, AGENT_MIB = 150, 28.6
AGE_S, KEY_MS = 3.0, 200.0


async def test_a_flood_over_a_slow_link_costs_neither_samples_nor_keys_nor_memory(
    start_ssh_server: StartSshServer, nvml_stub: Any, tmp_path: Path, share: Callable[[int], int]
) -> None:
    server = start_ssh_server(environment=nvml_stub.environment())
    figures = await flooded(server, tmp_path, share(SECONDS))

    assert figures.client_mib < CLIENT_MIB
    assert figures.agent_pss_mib < AGENT_MIB  # all its processes together
    assert figures.behind_mib > 20
    # What a busy machine adds now and then is not the link's.
    assert quantiles(figures.age_s, n=10)[-1] < AGE_S
    assert median(figures.key_ms) < KEY_MS
    # Lines of before the watch began are older than it can know.
    assert figures.far_lag_s is None or FAR_S < figures.far_lag_s < 2 * FAR_S
    assert figures.far_lag_s is not None or share(SECONDS) < FAR_S + 10
    (gap,) = figures.skipped
    assert gap.lost_bytes is not None
    assert gap.lost_bytes > 10 * 2**20
    assert gap.sentence.endswith("are not read: skipped to its end, as asked")
