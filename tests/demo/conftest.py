"""A running simulated engine for the tests of the demo."""

from collections.abc import AsyncIterator

import pytest
from simulated_launch import Launch, launch

SPEED = 60.0


@pytest.fixture
async def engine() -> AsyncIterator[Launch]:
    """Start an engine whose load takes under a second, and end it."""
    running = await launch(SPEED)
    yield running
    await running.close()
