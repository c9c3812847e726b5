"""Recordings of loads that have names, secrets and hostile text in every place where such can stand."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypedDict

from tui.events import (
    AnyEvent,
    Exit,
    GpuDriver,
    GpuFact,
    GpuFacts,
    Gpus,
    GpuSample,
    Hello,
    Link,
    Log,
    LogSource,
    Notice,
    Probe,
    Process,
    Processes,
    Rung,
    Tick,
)
from tui.journal.header import Asked
from tui.journal.writer import open_journal

HOST = "falcon7-gpu.acmecorp.example.com"
USER = "jdoe42"
MODEL = "/srv/zebra-lake/Quokka-LLM-7B"
LOG = f"/home/{USER}/logs/quokka-run.log"
GPU = "GPU-1a2b3c4d-aaaa-bbbb-cccc-0123456789ab"
KEY = "hf_abcdefghijklmnopqrstuvwxyz"
_ORIGINALS = """
    falcon7-gpu acmecorp jdoe42 zebra-lake quokka 10.44.55.66 fd12:3456:789a::7 fe:dc:ba:98:76:54
    1a2b3c4d-aaaa wombat 9f8e7d6c5b4a storage-node3 jane.roe platypus
"""
ORIGINALS = tuple(_ORIGINALS.split())
"""What none of which may be left in an anonymised bundle, in small letters."""

End = Literal["ready", "died", "oom", "wrong_model", "timeout"]


@dataclass(frozen=True, slots=True)
class Load:
    """What to record. ``served`` is the name that the server lists, None for its model argument."""

    end: End = "ready"
    host: str = HOST
    user: str = USER
    model: str = MODEL
    served: str | None = None
    lines: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict[str, str])


class Clocks(TypedDict):
    """The three clocks of an event."""

    mono_s: float
    wall_s: float
    client_s: float


def at(t: float) -> Clocks:
    """Return the clocks of an event at ``t``."""
    return {"mono_s": 5000.0 + t, "wall_s": 1_700_000_000.0 + t, "client_s": 70.0 + t}


def record(folder: Path, load: Load) -> Path:
    """Write a recording of a load and return its file."""
    asked = Asked(url=f"http://{load.host}:30000", log_path=LOG)
    journal = open_journal(folder, f"{load.user}@{load.host}", "0.1.0", asked)
    for event in events(load):
        journal.append(event)
    journal.close()
    return journal.path


def events(load: Load) -> Iterator[AnyEvent]:
    """Iterate over the events of a load."""
    yield from _beginning(load)
    lines = [*log_lines(load)]
    offset = 0
    for second, batch in enumerate(lines, start=1):
        t = float(second)
        yield Tick(**at(t))
        yield gpus(t, 1000.0 * second)
        offset += sum(len(line) + 1 for line in batch)
        yield Log(**at(t), lines=batch, tail="", returns=[], path=LOG, device=1, inode=2, offset=offset)
    yield from _end(load, len(lines) + 1.0)


def gpus(t: float, used_mib: float) -> Gpus:
    """Return one reading of two GPUs."""
    samples = [
        GpuSample(
            index=index,
            state="ok",
            memory_used_mib=used_mib,
            memory_reserved_mib=600.0,
            memory_total_mib=143_771.0,
            utilisation_pct=50.0,
            memory_utilisation_pct=5.0,
            power_w=120.0,
        )
        for index in range(2)
    ]
    return Gpus(**at(t), gpus=samples, cost_ms=1.0)


def _beginning(load: Load) -> Iterator[AnyEvent]:
    yield Link(**at(0.0), state="up", sentence=f"connected to {load.user}@{load.host} (10.44.55.66)")
    yield Hello(
        **at(0.0),
        protocol=1,
        host=load.host,
        user=load.user,
        uid=1000,
        pid=7,
        boot_id="77777777-1111-2222-3333-444444444444",
        python="3.12.3",
        kernel="6.8.0",
        cpu_count=64,
        memory_total_mib=1_000_000,
    )
    yield GpuDriver(**at(0.0), state="ok", sentence="driver 580.1", version="580.1")
    fact = GpuFact(
        index=0,
        uuid=GPU,
        name="NVIDIA H200",
        bus_id="0000:18:00.0",
        memory_total_mib=143_771.0,
        power_limit_w=700.0,
        pcie_generation_max=5,
        pcie_width_max=16,
    )
    yield GpuFacts(**at(0.0), gpus=[fact])
    yield Processes(**at(0.0), processes=[server(load), rank(load)])
    yield LogSource(**at(0.0), path=LOG, state="open", sentence=f"reading {LOG}")
    mail = "ask jane.roe@acmecorp.example.com or storage-node3.acmecorp.example.com [fd12:3456:789a::7]"
    yield Notice(**at(0.0), level="warning", about="host", sentence=mail)


def server(load: Load) -> Process:
    """Return the server's main process."""
    argv = ["/home/" + load.user + "/wombat-venv/bin/python3", "-m", "sglang.launch_server"]
    argv += [
        "--model-path",
        load.model,
        "--port",
        "30000",
        "--host",
        load.host,
        f"--download-dir={load.model}/dl",
    ]
    argv += ["--served-model-name", load.served] if load.served is not None else []
    return Process(
        pid=100,
        ppid=1,
        started_s=4999.0,
        uid=1000,
        user=load.user,
        state="S",
        title="python3",
        argv=[*argv, "--tp", "2", "-I/srv/platypus/include"],
        matched="sglang",
        cwd=f"/home/{load.user}/wombat run",
        stdout=LOG,
        stderr=LOG,
        container="9f8e7d6c5b4a",
        environment={"HF_HOME": f"/srv/zebra-lake/{load.user}", "NCCL_HOSTID": load.host, **load.environment},
    )


def rank(load: Load) -> Process:
    """Return a rank whose arguments are those of another user's process: not readable."""
    return Process(
        pid=101,
        ppid=100,
        started_s=4999.5,
        uid=1000,
        user=load.user,
        state="S",
        title="sglang::scheduler_TP0",
        argv=None,
        matched=None,
        cwd=None,
        stdout=None,
        stderr=None,
        container=None,
        environment=None,
    )


def log_lines(load: Load) -> Iterator[list[str]]:
    """Iterate over what the log gains in each second."""
    model, host = load.model, load.host
    yield [f"[2026-11-29 10:00:01] server_args=ServerArgs(model_path='{model}', host='{host}', port=30000)"]
    yield [f"[2026-11-29 10:00:02] sglang 0.5.14, NCCL version 2.28.9, at {host.upper()}", *load.lines]
    yield [
        "[2026-11-29 10:00:03 TP0] Init torch distributed begin.",
        f"init tcp://{host}:5000 mac fe:dc:ba:98:76:54",
    ]
    yield ["[2026-11-29 10:00:04 TP0] Load weight begin. avail mem=138.31 GB"]
    yield [f"reading {model}/model-00001-of-00002.safetensors from 10.44.55.66:2049", *load.extra]
    yield ["[2026-11-29 10:00:06 TP0] Load weight end. elapsed=2.0 s, avail mem=100.0 GB"]
    yield ["[2026-11-29 10:00:07 TP0] Memory pool end. avail mem=10.28 GB"]
    yield ["[2026-11-29 10:00:08 TP0] Capture cuda graph begin. This can take up to several minutes."]
    if load.end in ("oom", "died"):
        yield list(_traceback(load)) if load.end == "oom" else ["[2026-11-29 10:00:09] quiet"]


def _traceback(load: Load) -> Iterator[str]:
    home = f"/home/{load.user}/wombat-venv/lib/python3.12/site-packages"
    yield "[2026-11-29 10:00:09 TP0] Scheduler hit an exception: Traceback (most recent call last):"
    yield f'  File "{home}/sglang/srt/managers/scheduler.py", line 3, in run_scheduler_process'
    yield f'  File "/srv/zebra-lake/{load.user}/patched.py", line 9, in capture'
    yield "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total of"
    yield ""


def probe(t: float, rung: Rung, load: Load, models: list[str] | None = None) -> Probe:
    """Return a good answer."""
    url = f"http://{load.host}:30000/v1/models"
    return Probe(
        **at(t), rung=rung, outcome="ok", latency_ms=1.0, detail="200 OK", url=url, status=200, models=models
    )


def _end(load: Load, t: float) -> Iterator[AnyEvent]:
    if load.end in ("ready", "wrong_model"):
        listed = (load.served or load.model) if load.end == "ready" else "/srv/zebra-lake/Other-LLM"
        yield probe(t, "port", load)
        yield probe(t, "health", load)
        yield probe(t, "models", load, [listed])
        if load.end == "ready":
            yield probe(t + 1.0, "token", load)
    if load.end in ("died", "oom"):
        yield Exit(**at(t), pid=100, main=True, title="python3", how="gone", code=1)
    yield Tick(**at(t + 2.0))
