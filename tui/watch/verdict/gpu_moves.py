"""What one GPU did: memory, work, bytes over PCIe, and whether it only waits."""

from collections import deque
from dataclasses import dataclass, field
from statistics import median

from tui.events import GpuDetail, GpuSample
from tui.watch.verdict.channels import Channel, Reading, amount_words, level_words, reading
from tui.watch.verdict.meters import WINDOW_S, Level, Steps

MOVED_MEMORY_MIB = 16.0
MOVED_PCIE_MIB = 50.0
"""P9. A waiting rank received 1 MiB/s on H200s with NVLink: 30 MiB in the window."""
WORKS_MEMORY_PCT = 2.0
WORKS_POWER_SHARE = 0.25
WAIT_UTILISATION_PCT = 95.0
WAIT_UTILISATION_BARE_PCT = 99.0
WAIT_SM_PCT = 20.0
"""Measured on two H200s: SM 17.4 % on a GPU that waits in NCCL (1.5 % where that went over sockets). It is
100 % in SGLang's custom all-reduce, whose kernel waits on all multiprocessors: there its power tells."""
WAIT_POWER_W = 20.0
"""Within so much of idle with a context. Measured on H200s that idle at 121 to 130 W: 2 W more while one
waits in NCCL, 9 W more in a custom all-reduce; 320 W more while it decodes one request. The research had
proposed 35 % of the cap (245 W on an H200), at which a GPU may well work; it stays for a GPU whose idle
power was not seen."""
WAIT_POWER_SHARE = 0.35
WAIT_BARE_S = 5.0
BLIP_S = 2.5
"""One odd reading does not end a wait."""
CONTEXT_MIB = 256.0
"""A GPU with a CUDA context holds more: 1,306 MiB after init on an H200; 0 without (driver's part aside)."""
DETAIL_FRESH_S = 16.0
SAMPLE_FRESH_S = 6.0
PCIE_FRESH_S = 16.0


@dataclass(slots=True)
class GpuMoves:
    """One GPU, reading by reading; times are on the host's monotonic clock.

    ``waiting_since_s`` is since when it shows the signature of a wait, ``lost_since_s`` since when the driver
    cannot reach it.
    """

    index: int
    sample: GpuSample | None = None
    sample_s: float = 0.0
    detail: GpuDetail | None = None
    detail_s: float = 0.0
    limit_w: float | None = None
    waiting_since_s: float | None = None
    lost_since_s: float | None = None
    worked_s: float | None = None
    memory: Level = field(default_factory=lambda: Level(MOVED_MEMORY_MIB))
    pcie: Steps = field(default_factory=lambda: Steps(MOVED_PCIE_MIB))
    _idle: deque[float] = field(default_factory=lambda: deque[float](maxlen=120))
    _waited_s: float = 0.0
    _peer_idle_w: float | None = None

    def take(self, sample: GpuSample, at_s: float, peer_idle_w: float | None) -> None:
        """Note a reading of the fast tier; ``peer_idle_w`` is the idle power of the host's other GPUs."""
        self.sample, self.sample_s = sample, at_s
        if not self.lost:
            self.lost_since_s = None
        elif self.lost_since_s is None:
            self.lost_since_s = at_s
        self.memory.take(sample.memory_used_mib, at_s)
        self._learn_idle(sample)
        self._peer_idle_w = peer_idle_w
        if self._works(sample):
            self.worked_s = at_s
        self._judge_wait(sample, at_s)

    def take_detail(self, detail: GpuDetail, at_s: float) -> None:
        """Note a reading of the slow tier."""
        self.detail, self.detail_s = detail, at_s
        self.pcie.take(detail.pcie_received_mib, at_s)

    @property
    def lost(self) -> bool:
        """Whether the driver cannot reach it any more."""
        return self.sample is not None and self.sample.state == "lost"

    @property
    def idle_w(self) -> float | None:
        """Its power while it idles with a context, the median of what was seen; None before that."""
        return median(self._idle) if self._idle else None

    def _learn_idle(self, sample: GpuSample) -> None:
        held = (sample.memory_used_mib or 0.0) >= CONTEXT_MIB
        quiet = sample.utilisation_pct == 0 and sample.memory_utilisation_pct == 0
        if held and quiet and sample.power_w is not None:
            self._idle.append(sample.power_w)

    @property
    def _least_w(self) -> float | None:
        """Its idle power, that of the host's other GPUs while its own is not known."""
        idle_w = self.idle_w
        return self._peer_idle_w if idle_w is None else idle_w

    def _works(self, sample: GpuSample) -> bool:
        if (sample.memory_utilisation_pct or 0.0) >= WORKS_MEMORY_PCT:
            return True
        if sample.power_w is None or self.limit_w is None:
            return False
        least, idle_w = WAIT_POWER_SHARE * self.limit_w, self._least_w
        if idle_w is not None:
            least = idle_w + WORKS_POWER_SHARE * (self.limit_w - idle_w)
        return sample.power_w > least

    def _judge_wait(self, sample: GpuSample, at_s: float) -> None:
        if self._waits(sample, at_s):
            if self.waiting_since_s is None:
                self.waiting_since_s = at_s
            self._waited_s = at_s
        elif at_s - self._waited_s > BLIP_S:
            self.waiting_since_s = None

    def _waits(self, sample: GpuSample, at_s: float) -> bool:
        if (sample.utilisation_pct or 0.0) < WAIT_UTILISATION_PCT:
            return False
        by_gpm = self._waits_by_gpm(at_s)
        if by_gpm is not None:
            return by_gpm
        bare = (sample.utilisation_pct or 0.0) >= WAIT_UTILISATION_BARE_PCT
        return bare and sample.memory_utilisation_pct == 0 and self._low(sample.power_w)

    def _waits_by_gpm(self, at_s: float) -> bool | None:
        """Whether its units idle behind the 100 %; None where they cannot be read."""
        detail = self.detail
        if detail is None or at_s - self.detail_s > DETAIL_FRESH_S:
            return None
        if detail.sm_pct is None or detail.tensor_pct is None or detail.dram_pct is None:
            return None
        flows = (detail.nvlink_received_mib_s or 0.0) >= 1.0
        power_w = None if self.sample is None else self.sample.power_w
        still = detail.sm_pct <= WAIT_SM_PCT or (self._least_w is not None and self._low(power_w))
        return still and detail.tensor_pct < 0.5 and detail.dram_pct < 0.5 and not flows

    def _low(self, power_w: float | None) -> bool:
        idle_w = self._least_w
        if power_w is None:
            return False
        if idle_w is not None:
            return power_w < idle_w + WAIT_POWER_W
        return self.limit_w is not None and power_w <= WAIT_POWER_SHARE * self.limit_w

    def waiting_s(self, now_s: float) -> float | None:
        """Return for how long it shows the signature of a wait, None while it does not (or is not heard)."""
        if self.waiting_since_s is None or now_s - self.sample_s > SAMPLE_FRESH_S:
            return None
        waited = now_s - self.waiting_since_s
        return waited if waited > WAIT_BARE_S or self._waits_by_gpm(now_s) else None

    def readings(self, now_s: float) -> list[Reading]:
        """Return P2, P7 and P9 as this GPU tells them."""
        memory = level_words(f"memory of GPU {self.index}", self.memory.value, self.memory.change)
        known = self.memory.known(now_s)
        received = self.pcie.total(now_s)
        pcie = f"{amount_words(received)} to GPU {self.index} in {WINDOW_S:.0f} s"
        fresh = self.pcie.read_s is not None and now_s - self.pcie.read_s <= PCIE_FRESH_S
        return [
            reading(Channel.GPU_MEMORY, now_s, self.memory.moved_s, known=known, amount=0.0, figure=memory),
            self._work(now_s),
            reading(Channel.PCIE, now_s, self.pcie.moved_s, known=fresh, amount=received, figure=pcie),
        ]

    def _work(self, now_s: float) -> Reading:
        sample = self.sample
        known = (
            sample is not None
            and now_s - self.sample_s <= SAMPLE_FRESH_S
            and sample.memory_utilisation_pct is not None
        )
        return reading(Channel.GPU_WORK, now_s, self.worked_s, known=known, amount=0.0, figure=self.figure)

    @property
    def figure(self) -> str:
        """Its newest figures in words."""
        sample, detail = self.sample, self.detail
        if sample is None:
            return f"GPU {self.index} not read"
        parts = [f"util {sample.utilisation_pct:.0f} %"] if sample.utilisation_pct is not None else []
        if detail is not None and detail.sm_pct is not None:
            parts.append(f"SM {detail.sm_pct:.0f} %")
        if sample.memory_utilisation_pct is not None:
            parts.append(f"memory util {sample.memory_utilisation_pct:.0f} %")
        if sample.power_w is not None:
            idle = "" if self.idle_w is None else f" (idle {self.idle_w:.0f} W)"
            parts.append(f"{sample.power_w:.0f} W{idle}")
        return f"GPU {self.index}: " + ", ".join(parts or ["no figures"])

    def void(self) -> None:
        """Forget all windows: a blind time lies between the readings. Idle power stays what it was."""
        self.memory.void()
        self.pcie.void()
        self.worked_s = self.waiting_since_s = None
