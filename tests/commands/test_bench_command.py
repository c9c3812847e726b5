"""``tminus bench``: one object on the last line in every case but a wrong command line, and the exit code."""

import asyncio
import signal

from simulated_launch import Launch
from tminus_command import Tminus

from tui.demo.server import MODEL

SMALL = ("--concurrency", "2", "--requests", "4", "--input-tokens", "16", "--output-tokens", "8", "--json")


async def warm(tminus: Tminus, engine: Launch) -> None:
    """Wait until the engine is ready."""
    assert (await tminus.aside("wait", "--url", engine.url, "--no-record")).code == 0


async def test_a_url_alone_is_measured_from_here(tminus: Tminus, simulated_engine: Launch) -> None:
    await warm(tminus, simulated_engine)

    done = await tminus.aside("bench", "--url", simulated_engine.url + "/v1", *SMALL)

    assert done.code == 0
    assert (done.last["completed"], done.last["failed"], done.last["failures"]) == (4, 0, {})
    assert (done.last["measured_on"], done.last["model"]) == ("this_machine", MODEL)
    assert done.last["output_tokens"] == 32


async def test_a_server_on_this_machine_is_found_and_measured_beside_it(
    tminus: Tminus, simulated_engine: Launch
) -> None:
    await warm(tminus, simulated_engine)

    done = await tminus.aside("bench", "--port", str(simulated_engine.port), *SMALL)

    assert done.code == 0
    assert (done.last["completed"], done.last["measured_on"]) == (4, "server_host")
    assert done.last["url"] == simulated_engine.url


async def test_people_get_words(tminus: Tminus, simulated_engine: Launch) -> None:
    await warm(tminus, simulated_engine)

    done = await tminus.aside("bench", "--url", simulated_engine.url, *SMALL[:-1])

    assert done.code == 0
    assert "TTFT" in done.out
    assert done.out.startswith("done: ")


def test_a_port_that_refuses_is_1_with_the_object(tminus: Tminus, free_port: int) -> None:
    done = tminus.run("bench", "--url", f"http://127.0.0.1:{free_port}", *SMALL)

    assert (done.code, done.last["completed"], done.last["outcome"]) == (1, 0, "failed")
    assert "refuses connections" in str(done.last["sentence"])


def test_a_port_on_this_machine_without_a_server_is_1_with_the_object(tminus: Tminus, free_port: int) -> None:
    done = tminus.run("bench", "--port", str(free_port), *SMALL)

    assert (done.code, done.last["completed"]) == (1, 0)


def test_a_host_that_is_not_there_is_4_with_the_object(tminus: Tminus) -> None:
    done = tminus.run("bench", "no-such-host.invalid", *SMALL)

    assert (done.code, done.last["outcome"]) == (4, "failed")
    assert done.err.count("\n") == 1


async def test_ctrl_c_is_130_with_what_was_measured(tminus: Tminus, simulated_engine: Launch) -> None:
    await warm(tminus, simulated_engine)
    many = ("--concurrency", "2", "--requests", "5000", "--output-tokens", "64")
    process = tminus.start("bench", "--url", simulated_engine.url, *many)
    await asyncio.to_thread(tminus.until_said, process, "measuring")
    process.send_signal(signal.SIGINT)
    done = await asyncio.to_thread(tminus.end, process)

    assert done.code == 130
    assert done.out.startswith("cancelled: ")
