"""What NVML tells of how GPUs are set up and joined: limits, persistence, NVLinks, nearest common bridge."""

from __future__ import annotations

from tui.agent.gpus import bindings, nvml
from tui.agent.gpus.row import scaled, text

_LINKS = 36
# Of nvmlGpuTopologyLevel_t, as nvidia-smi topo -m names them; GPUs on one board are joined more closely.
_LEVELS = {0: "PIX", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}


def read(told: dict[str, object]) -> None:
    """Put into ``told`` what the driver says; nothing where there is none. May block."""
    module = bindings.load() if bindings.find_library()[0] else None
    if module is None:
        return
    library = nvml.Library(module)
    try:
        library.call("nvmlInitWithFlags", 0)
    except nvml.Refusal:
        return
    try:
        _read(library, told)
    except nvml.Refusal:
        return
    finally:
        library.call("nvmlShutdown")


def _read(library: nvml.Library, told: dict[str, object]) -> None:
    count = library.call("nvmlDeviceGetCount")
    gpus = [_device(library, index) for index in range(count if isinstance(count, int) else 0)]
    limits = [None if gpu is None else _asked(gpu, "power_limit") for gpu in gpus]
    told["power_limits_w"] = [scaled(limit, 1000, 1) for limit in limits]
    told["persistence"] = [None if gpu is None else _persists(gpu) for gpu in gpus]
    places = [None if gpu is None else _bus(_asked(gpu, "pci")) for gpu in gpus]
    links = [{} if gpu is None else _links(gpu, places) for gpu in gpus]
    told["topology"] = [
        ["X" if row == column else _joined(gpus, links, row, column) for column in range(len(gpus))]
        for row in range(len(gpus))
    ]


def _device(library: nvml.Library, index: int) -> nvml.Device | None:
    try:
        return nvml.Device(library, library.call("nvmlDeviceGetHandleByIndex", index))
    except nvml.Refusal:
        return None


def _asked(gpu: nvml.Device, value: str) -> object:
    try:
        return gpu.ask(value)
    except nvml.Refusal:
        return None


def _called(gpu: nvml.Device, name: str, *arguments: object) -> object:
    try:
        return gpu.call(name, *arguments)
    except nvml.Refusal:
        return None


def _persists(gpu: nvml.Device) -> bool | None:
    answer = _called(gpu, "nvmlDeviceGetPersistenceMode")
    return bool(answer) if answer in (0, 1) else None


def _bus(answer: object) -> str | None:
    return text(getattr(answer, "busId", None))


def _links(gpu: nvml.Device, places: list[str | None]) -> dict[int, int]:
    """Return how many NVLinks of a GPU lead to which other, -1 for those that lead elsewhere: a switch."""
    found: dict[int, int] = {}
    for link in range(_LINKS):
        state = _called(gpu, "nvmlDeviceGetNvLinkState", link)
        if state is None:
            break
        if state != 1:
            continue
        far = _bus(_called(gpu, "nvmlDeviceGetNvLinkRemotePciInfo", link))
        place = places.index(far) if far is not None and far in places else -1
        found[place] = found.get(place, 0) + 1
    return found


def _joined(gpus: list[nvml.Device | None], links: list[dict[int, int]], row: int, column: int) -> str | None:
    one, other = gpus[row], gpus[column]
    number = links[row].get(column) or min(links[row].get(-1, 0), links[column].get(-1, 0))
    if number:
        return "NV%d" % number
    if one is None or other is None:
        return None
    level = _called(one, "nvmlDeviceGetTopologyCommonAncestor", other.handle)
    return _LEVELS.get(level) if isinstance(level, int) else None
