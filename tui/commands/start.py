"""From choices to a running watch: options, source, recording and session."""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tui import __version__, parse, profiles_file
from tui.bench.workload import Workload
from tui.benchmark import BenchSpec
from tui.commands import bench_plan, checks
from tui.engines.registry import matchers
from tui.journal.header import Asked
from tui.journal.heard import JournalOnceHeard
from tui.journal.writer import Keep, check_folder, open_journal
from tui.requests import ProbePlan, WatchRequest
from tui.runs.keeping import KeptRuns
from tui.runs.past_loads import FILE_NAME as LOADS_NAME
from tui.runs.past_loads import PastLoadsFile
from tui.session import Session
from tui.settings import Choices, UsageFault
from tui.source import Source
from tui.transport.asking import Answers, Asker
from tui.transport.wrapper import KINDS, Wrapper, wrapper
from tui.watch.follow import follow_request
from tui.watch.options import WatchOptions

if TYPE_CHECKING:
    from tui.transport.agent_source import AgentSource
    from tui.transport.container_log.reader import Container
    from tui.transport.pipe import Opener
    from tui.transport.ssh.opener import SshOpener

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"
LOCAL = "local"
CLOSE_S = 5.0
COMMANDS = (
    "watch", "wait", "bench", "runs", "baseline", "compare", "diagnose", "explain", "replay", "recordings",
    "export", "demo",
)  # fmt: skip


def host_of(choices: Choices) -> str | None:
    """Return the host to watch, None for a URL alone."""
    if choices.host is None and choices.url is not None and inside_of(choices) is None:
        return None
    return choices.host or LOCAL


def inside_of(choices: Choices) -> Wrapper | None:
    """Return the way into the container, pod or job that was chosen, None for none."""
    for kind in KINDS:
        name: str | None = getattr(choices, kind)
        if name is not None:
            return wrapper(kind, name)
    return None


def place_of(choices: Choices) -> str | None:
    """Return where is watched, in words: the host, or what is on it; None for a URL alone."""
    host, inside = host_of(choices), inside_of(choices)
    return host if inside is None else inside.place(None if host == LOCAL else host)


def is_here(choices: Choices) -> bool:
    """Return whether it is this machine itself whose files and processes are seen."""
    return host_of(choices) == LOCAL and inside_of(choices) is None


def options_for(choices: Choices) -> WatchOptions:
    """Return what to watch. Raises UsageFault for what is known to be wrong before connecting."""
    check(choices)
    here = host_of(choices) is None or is_here(choices)
    return WatchOptions(
        port=choices.port,
        url=choices.url,
        log_path=_absolute(choices.log) if here else choices.log,
        pid=choices.pid,
        model=choices.model,
        interval_s=choices.interval,
        ready_on=choices.ready_on,
        api_key=api_key(choices),
        insecure=choices.insecure,
        ca_file=_absolute(choices.ca_file) if here else choices.ca_file,
        bench_on_ready=choices.bench_on_ready,
    )


def api_key(choices: Choices) -> str | None:
    """Return the key from the variable that was named (which must be set), else from OPENAI_API_KEY."""
    name = choices.api_key_env or DEFAULT_KEY_VARIABLE
    value = os.environ.get(name)
    if choices.api_key_env is not None and not value:
        raise UsageFault(f"--api-key-env {name}: the variable {name} is not set")
    if value is not None and not (value.isascii() and value.isprintable()):
        raise UsageFault(f"the variable {name} holds characters that no HTTP header can carry")
    return value or None


def check(choices: Choices) -> None:
    """Raise UsageFault for combinations and local files that cannot work."""
    place = place_of(choices)
    if place is None:
        checks.check_url_alone(choices)
    if place is None or is_here(choices):
        _check_local_files(choices)
    else:
        checks.check_remote_paths(choices, place)


def spec_for(choices: Choices) -> BenchSpec:
    """Return the workload that was asked for (a sweep's first level). The session fills in URL and model."""
    return bench_plan.plan_for(choices).specs[0]


def workloads_for(choices: Choices) -> list[Workload]:
    """Return what the benchmark key can fire: what was asked for first, then every other profile.

    A profile whose data set cannot be read is left out, and that is said: a watch does not need it.
    """
    found = [bench_plan.plan_for(choices)]
    for profile in profiles_file.load_profiles(os.environ).values():
        try:
            workload = bench_plan.planned(profile, choices)
        except UsageFault as fault:
            say(f"the profile {profile.name} is left out: {fault}")
        else:
            found += [workload] if workload.name != found[0].name else []
    return found


def open_session(choices: Choices, *, recorded: bool = True, asker: Asker | None = None) -> Session:
    """Return a session over the host or URL that was chosen. Connects when it is iterated.

    ``recorded`` False: it is no watch to look at later, and would push out one that is. ``asker`` is who
    answers ssh's questions, None for nobody.
    """
    options = options_for(choices)
    return session_over(choices, options, source_for(choices, options, asker), recorded=recorded)


def session_over(
    choices: Choices,
    options: WatchOptions,
    source: Source,
    *,
    recorded: bool,
    workloads: Sequence[Workload] | None = None,
) -> Session:
    """Return a session over a source; ``workloads`` as of ``workloads_for``, where they are known."""
    first, *others = workloads or workloads_for(choices)
    return Session(
        source,
        options,
        first,
        profiles=others,
        journal=journal_for(choices, options) if recorded else None,
        past=past_loads_for(choices),
        runs=KeptRuns(ledger_path(), write=choices.record) if recorded else None,
    )


async def let_go(watching: "asyncio.Task[Any]", session: Session) -> None:
    """End a watch and its source, within a few seconds whatever hangs; say what could not be kept of it."""
    watching.cancel()
    await asyncio.wait({watching, asyncio.ensure_future(session.close())}, timeout=CLOSE_S)
    if session.unkept:
        say(session.unkept)


def journal_for(choices: Choices, options: WatchOptions) -> JournalOnceHeard | None:
    """Return the recording of a watch, which begins when the host or URL is heard.

    Where none can be written the watch goes on, and that is said.
    """
    if not choices.record:
        return None
    folder = recordings_folder()
    try:
        check_folder(folder)
    except OSError as error:
        say(f"no recording: {folder}: {error.strerror}; the watch goes on")
        return None
    host, asked, began_s = place_of(choices) or "url", asked_of(options), time.time()
    keep = Keep(choices.keep_recordings, choices.keep_recordings_mib * 1024**2)
    return JournalOnceHeard(lambda: open_journal(folder, host, __version__, asked, keep, began_s))


def asked_of(options: WatchOptions) -> Asked:
    """Return what of the options a recording keeps: what decides the meaning of events, and no key."""
    return Asked(
        port=options.port,
        url=options.url,
        log_path=options.log_path,
        pid=options.pid,
        model=options.model,
        interval_s=options.interval_s,
        ready_on=options.ready_on,
        bench_on_ready=options.bench_on_ready,
    )


def past_loads_for(choices: Choices) -> PastLoadsFile:
    """Return where past loads are read from, and kept unless nothing is to be recorded."""
    return PastLoadsFile(state_folder() / LOADS_NAME, write=choices.record)


def ledger_path() -> Path:
    """Return where this user's benchmarks and loads are kept."""
    import platformdirs

    return platformdirs.user_data_path("tminus") / "runs.sqlite"


def recordings_folder() -> Path:
    """Return where recordings are kept."""
    return state_folder() / "recordings"


def state_folder() -> Path:
    """Return where this user's recordings and past loads lie."""
    import platformdirs

    return platformdirs.user_state_path("tminus")


def source_for(
    choices: Choices, options: WatchOptions, asker: Asker | None = None, *, patient: bool = False,
    answers: Answers | None = None,
) -> Source:  # fmt: skip
    """Return where the events come from; ``patient``: a host that is away at first is tried again.

    ``answers`` are those to ssh's questions, where several hosts are to share them.
    """
    host = host_of(choices)
    if host is None:
        from tui.transport.bench_beside import BenchBeside
        from tui.transport.endpoint import EndpointSource

        return BenchBeside(EndpointSource(probe_plan(options)), lambda: local_agent(options))
    if is_here(choices):
        return local_agent(options)
    return remote_agent(
        host, choices, options, asker=asker, plain_shell=True, patient=patient, answers=answers
    )


def local_agent(options: WatchOptions, *, gpus: bool = True) -> Source:
    """Return the agent on this machine, run by this very Python. It is not started a second time."""
    from tui.transport.agent_source import AgentSource
    from tui.transport.local import agent_opener

    watch = watch_request(options, gpus=gpus)
    return AgentSource(agent_opener(), watch, reconnect=False, python=sys.executable)


def remote_agent(
    host: str,
    choices: Choices,
    options: WatchOptions,
    *,
    gpus: bool = True,
    asker: Asker | None = None,
    plain_shell: bool = False,
    patient: bool = False,
    answers: Answers | None = None,
) -> Source:
    """Return the agent on a host over SSH, taken up again after a lost link. Raises UsageFault.

    With a container, pod or job chosen it is the agent in there, on that host or on this machine. With
    ``plain_shell`` a shell takes its place where there is no fit Python.
    """
    from tui.transport.agent_source import AgentSource
    from tui.transport.container_log.reader import Container

    watch, inside = watch_request(options, gpus=gpus), inside_of(choices)
    if inside is not None and host == LOCAL:
        from tui.transport.local import local_opener

        here = Container(inside, local_opener(), None)
        return _agent_inside(local_opener(), here, watch, plain_shell=plain_shell)
    # What the way to the host has to say becomes an event: written to the terminal it would tear the screen.
    notices: list[Callable[[str], None]] = []
    opener = _way_to(
        host, choices, lambda sentence: notices[0](sentence), asker, patient=patient, answers=answers
    )
    stays, asks = asker is not None and asker.later, opener.expects_question
    if inside is None:
        source = AgentSource(
            opener, watch, reconnect=True, expects_question=asks, plain_shell=plain_shell, stays=stays,
            patient=patient,
        )  # fmt: skip
    else:
        there = Container(inside, opener.beside, host)
        source = _agent_inside(
            opener, there, watch, asks, plain_shell=plain_shell, stays=stays, patient=patient
        )
    notices.append(source.note)
    return source


def _way_to(
    host: str, choices: Choices, notice: Callable[[str], None], asker: Asker | None, *, patient: bool,
    answers: Answers | None,
) -> "SshOpener":  # fmt: skip
    from tui.transport.pipe import LinkFault
    from tui.transport.ssh.opener import SshOptions, ssh_opener

    ssh = SshOptions(
        config_file=choices.ssh_config, ssh_cmd=choices.ssh_cmd, accept_new=choices.accept_new, notice=notice,
        asker=asker, patient=patient, answers=answers or Answers(),
    )  # fmt: skip
    try:
        return ssh_opener(host, options=ssh)
    except LinkFault as fault:
        raise UsageFault(fault.sentence) from None


def _agent_inside(
    opener: "Opener",
    container: "Container",
    watch: WatchRequest,
    expects_question: Callable[[], Awaitable[bool]] | None = None,
    *,
    plain_shell: bool,
    stays: bool = False,
    patient: bool = False,
) -> "AgentSource":
    """Return the agent in a container, pod or job of the host that the opener leads to."""
    from tui.transport.agent_source import AgentSource
    from tui.transport.container_log.beside import LogBeside
    from tui.transport.wrapper_pipe import TIMEOUT_S, wrapped_opener

    inside, host = container.wrapper, container.host
    return AgentSource(
        wrapped_opener(opener, inside, host), watch, reconnect=True, timeout_s=TIMEOUT_S,
        expects_question=expects_question, place=inside.place(host), stays=stays, patient=patient,
        plain_shell=plain_shell, log_beside=LogBeside(container),
    )  # fmt: skip


def bench_source(choices: Choices, options: WatchOptions, asker: Asker | None = None) -> Source:
    """Return the agent that runs a benchmark: beside the server, or here for a URL alone.

    Beside a server it reads the GPUs, which are part of what a run was made under.
    """
    host = host_of(choices)
    if host is None or is_here(choices):
        return local_agent(options, gpus=host is not None)
    return remote_agent(host, choices, options, asker=asker)


def watch_request(options: WatchOptions, *, gpus: bool = True) -> WatchRequest:
    """Return the first request to an agent."""
    return WatchRequest(matchers=matchers(), interval_s=options.interval_s, gpus=gpus)


def probe_plan(options: WatchOptions) -> ProbePlan:
    """Return what is asked of a URL alone."""
    request = follow_request(None, options)
    if request is None or request.probe is None:
        raise UsageFault("a URL is needed where no host is named")
    return request.probe


def host_hint(choices: Choices, fault: str | None) -> str:
    """Return the command that a host of unknown name was perhaps meant to be."""
    if fault != "dns" or choices.host is None:
        return ""
    return parse.nearest(choices.host, COMMANDS).replace("mean ", "mean tminus ")


def say(sentence: str) -> None:
    """Tell a person something beside the output."""
    sys.stderr.write(f"tminus: {sentence}\n")
    sys.stderr.flush()


def _absolute(path: str | None) -> str | None:
    return None if path is None else os.path.abspath(os.path.expanduser(path))


def _check_local_files(choices: Choices) -> None:
    if choices.log is not None:
        path = parse.local_path(choices.log)
        if os.path.isdir(path):
            raise UsageFault(f"--log {choices.log} is a directory; name the file that the server writes to")
        if not os.path.exists(path):
            say(f"--log {choices.log} does not exist yet; waiting for it")
    if choices.ca_file is not None:
        checks.check_certificates(choices.ca_file)
