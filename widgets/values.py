"""The plain values that widgets draw. Standard library only; nothing here knows where a value comes from.

``None`` is "not known" or "not available" and is drawn as such, never as 0. Strings are already clean.
"""

from dataclasses import dataclass, field
from enum import Enum


class Mood(Enum):
    """What a state means to the person who watches; widgets add a glyph and a colour, texts carry a word."""

    IDLE = "idle"
    WAITING = "waiting"
    ACTIVE = "active"
    GOOD = "good"
    WARNING = "warning"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class GpuRow:
    """One GPU. ``note`` replaces the figures when it has none to show ("lost", "driver silent 7 s").

    ``history`` holds the newest utilisation percentages, oldest first, None where no reading exists.
    ``slope_gib_s`` is the change of used memory over the last 10 s.
    """

    index: int
    name: str | None
    memory_used_mib: float | None
    memory_total_mib: float | None
    slope_gib_s: float | None
    utilisation_pct: float | None
    history: tuple[float | None, ...]
    power_w: float | None
    power_limit_w: float | None
    temperature_c: float | None
    note: str = ""
    mood: Mood = Mood.IDLE
    stale: bool = False


@dataclass(frozen=True, slots=True)
class GpuPanel:
    """All GPU rows, or the sentence why there is none; ``caption`` says memory and driver in words.

    ``alarm`` says why the rows are old; it takes the room of the heads where there is no other.
    """

    rows: tuple[GpuRow, ...]
    sentence: str = ""
    caption: str = ""
    alarm: str = ""


@dataclass(frozen=True, slots=True)
class LadderRung:
    """One rung of the readiness ladder, in words and figures."""

    name: str
    mood: Mood
    state: str
    since: str = ""
    tries: int | None = None
    latency: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The rungs, lowest first, and the sentence over them ("not ready: port refuses connections")."""

    rungs: tuple[LadderRung, ...]
    headline: str
    mood: Mood


@dataclass(frozen=True, slots=True)
class Header:
    """The top line: where, what, how long, how far.

    ``own`` is what the host calls itself, where that differs from how it is called here.
    """

    host: str
    engine: str
    model: str
    clock: str
    phase: str
    mood: Mood
    link: str = ""
    paused: bool = False
    own: str = ""


@dataclass(frozen=True, slots=True)
class PhaseCell:
    """One phase of the load: GOOD is behind, ACTIVE the current one, IDLE to come, BAD where it failed.

    ``time`` is what it took so far, "" where that is not known, ``seconds`` the same in whole seconds: where
    room is scarce the short ones give way first.
    """

    name: str
    mood: Mood
    time: str = ""
    seconds: int = 0


@dataclass(frozen=True, slots=True)
class PhasePanel:
    """The phases in order, and what is done of the current one.

    ``fraction`` 0 to 1, None without a basis. ``work`` says what is being done ("12 of 17 shards"), ``waits``
    which ranks hold the load back, ``estimate`` the time to ready. ``sentence`` replaces all three when the
    load has ended.
    """

    cells: tuple[PhaseCell, ...] = ()
    fraction: float | None = None
    work: str = ""
    waits: str = ""
    estimate: str = ""
    sentence: str = ""
    mood: Mood = Mood.IDLE


@dataclass(frozen=True, slots=True)
class VerdictPanel:
    """What is to be thought of the load; ``word`` is "" while nothing can be said.

    ``clock`` is for how long it has been so ("" where that says nothing new), ``place`` where the load stands
    ("in capture (12 of 52)"), ``told`` the rest of the sentence: who waits for whom. ``countdown`` says when
    a quiet load will count as stalled, ``deadline`` which time-out strikes next, ``deadline_left`` only when;
    ``waiting`` names the ranks that wait. ``brief``: other panes say the rest, one row is enough.
    """

    word: str = ""
    mood: Mood = Mood.IDLE
    clock: str = ""
    place: str = ""
    told: str = ""
    countdown: str = ""
    deadline: str = ""
    deadline_left: str = ""
    cause: str = ""
    figures: tuple[str, ...] = ()
    waiting: str = ""
    next_step: str = ""
    not_to_do: str = ""
    brief: bool = False


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One rule by which a load is judged. ``mood`` IDLE: it does not match; ``state`` says how near it is."""

    name: str
    mood: Mood
    state: str
    numbers: str


@dataclass(frozen=True, slots=True)
class LaneRow:
    """One rank in words: where it stands, what came to its GPUs, what it waits for. IDLE: as the others.

    ``state`` is the letter of its process, "" where any of it is not known.
    """

    name: str
    pid: str
    gpus: str
    phase: str
    received: str
    memory: str
    state: str
    wait: str
    mood: Mood = Mood.IDLE


@dataclass(frozen=True, slots=True)
class DeadlineRow:
    """A time-out that will end the load: when it strikes, how long it is, where it was set."""

    name: str
    left: str
    source: str
    mood: Mood = Mood.IDLE


@dataclass(frozen=True, slots=True)
class WhyPanel:
    """Everything that speaks for a verdict; ``sentence`` stands in its place while there is none.

    ``since`` says since when it is so, ``rules`` come with those that match on top, ``diagnosis`` is what was
    found on request.
    """

    verdict: VerdictPanel = VerdictPanel()
    sentence: str = ""
    since: str = ""
    rules: tuple[RuleRow, ...] = ()
    lanes: tuple[LaneRow, ...] = ()
    deadlines: tuple[DeadlineRow, ...] = ()
    diagnosis: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the server's log. ``mood`` is BAD for errors, WARNING for warnings, ACTIVE for marks.

    ``mark``: the line began or ended a phase, or told a fault: what the keys n and N go to.
    """

    number: int
    text: str
    mood: Mood = Mood.IDLE
    mark: bool = False


@dataclass(frozen=True, slots=True)
class LogPanel:
    """What the tail shows besides its lines: its title, the unfinished line, and why there is no log.

    ``fault_number`` is the number of the line that tells why the load failed, None without one.
    """

    title: str
    sentence: str = ""
    tail: str = ""
    fault_number: int | None = None


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One metric of a benchmark, or one level of a sweep: its name, and cells in the order of the columns.

    ``mood`` colours the last cell, where that holds a ratio that means something.
    """

    name: str
    cells: tuple[str, ...]
    mood: Mood = Mood.IDLE


@dataclass(frozen=True, slots=True)
class BenchPanel:
    """The benchmark pane: a headline, progress while it runs, a table when it is done, notes beneath.

    ``pending``: one is armed or runs, and can be cancelled. ``compared`` says how it stands to the baseline;
    ``differing`` are the settings in which the two differ (name, there and here), and ``warnings`` what makes
    the figures doubtful.
    """

    headline: str
    mood: Mood = Mood.IDLE
    pending: bool = False
    progress: float | None = None
    columns: tuple[str, ...] = ()
    rows: tuple[BenchRow, ...] = ()
    notes: tuple[str, ...] = ()
    compared: str = ""
    compared_mood: Mood = Mood.IDLE
    differing: tuple[tuple[str, str, str], ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """A workload that can be chosen: its name, what it is for, and what it asks of the server."""

    name: str
    about: str
    words: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class ReplayPanel:
    """Where a replay stands: what it is, how it plays ("paused", "10x"), its time, its length ("" unknown).

    ``following`` says what comes next ("capture in 00:41"), ``fraction`` is 0 to 1, None without a length.
    """

    caption: str
    state: str
    now: str
    length: str = ""
    fraction: float | None = None
    following: str = ""


@dataclass(frozen=True, slots=True)
class LoadRow:
    """One load over several of the watched hosts; ``members`` are the numbers of their rows, by node.

    ``name`` says what it is ("SGLang on 2 nodes"), ``load`` the phase where its slowest node stands, ``left``
    its time to ready, ``verdict`` one word, ``sentence`` who waits for whom or what is wrong with which node.
    ``news`` is what that means: it is worth a note when this changes, never when it is empty.
    """

    name: str
    members: tuple[int, ...]
    mood: Mood
    load: str = ""
    left: str = ""
    verdict: str = ""
    sentence: str = ""
    news: tuple[object, ...] = ()


@dataclass(frozen=True, slots=True)
class HostRow:
    """One of several watched hosts in words; ``name`` as the person wrote it, ``mood`` what stands out of it.

    ``word`` is how it stands in a word that can be counted ("ready"), ``load`` the phase or what is in its
    place, ``left`` the time to ready ("T- 3:10"), ``memory`` and ``utilisation`` those of all its GPUs,
    ``verdict`` one word, ``link`` how the host is reached, ``node`` which node of a load on several it is
    ("1 of 2"). ``sentence`` is what matters most of it, ``model`` says engine and model. ``alerts`` as in
    ScreenValues. ``shown``: its panes are on the screen. ``joined`` is the load over several hosts that it
    has a part in.
    """

    name: str
    mood: Mood
    word: str = ""
    load: str = ""
    load_mood: Mood = Mood.IDLE
    clock: str = ""
    left: str = ""
    memory: str = ""
    utilisation: str = ""
    verdict: str = ""
    verdict_mood: Mood = Mood.IDLE
    link: str = ""
    link_mood: Mood = Mood.IDLE
    node: str = ""
    model: str = ""
    sentence: str = ""
    alerts: int = 0
    shown: bool = False
    joined: LoadRow | None = None


@dataclass(frozen=True, slots=True)
class ScreenValues:
    """Everything that one paint of the main screen needs.

    ``alerts`` counts how often a load became ready or failed since the watch began; the screen rings the bell
    once for each rise. A new ``generation`` means that what was taken over before is true no longer (a jump
    back in a replay). ``time_of_day`` is what notes are dated by, "" for this machine's clock. ``hosts`` are
    all that are watched where it is several, () for one. ``stale``: what is told of the host is old.
    """

    header: Header
    gpus: GpuPanel
    ladder: Ladder
    log: LogPanel
    bench: BenchPanel
    status: str = ""
    alerts: int = 0
    phases: PhasePanel = PhasePanel()
    verdict: VerdictPanel = VerdictPanel()
    lanes: tuple[LaneRow, ...] = ()
    lines: tuple[LogLine, ...] = field(default=())
    replay: ReplayPanel | None = None
    generation: int = 0
    time_of_day: str = ""
    hosts: tuple[HostRow, ...] = ()
    stale: bool = False
