"""What the GPUs of one load have received in its weights phase, and what is expected of it."""

from tui.engines.phase import Phase
from tui.events import Checkpoint
from tui.watch.gpus import GpuBook
from tui.watch.history import Matching
from tui.watch.load import Load
from tui.watch.target import Server
from tui.watch.transfer import Expected, Transfer, expectation, gpus_of, shards_of, transfer


def received(
    load: Load,
    server: Server,
    book: GpuBook,
    checkpoint: Checkpoint | None,
    past: Matching,
    now_s: float,
) -> Transfer | None:
    """Return what came over PCIe in the weights phase, None before it or where nothing can be counted.

    A second stay there (a draft model's weights) has bytes and a rate, but no expectation.
    """
    stays = [span for span in load.timeline.spans if span.phase is Phase.WEIGHTS]
    if not stays:
        return None
    again = len(stays) > 1 and load.timeline.phase is Phase.WEIGHTS
    span = stays[-1] if again else stays[0]
    if span.began_s is None:
        return None
    gpus = gpus_of(server.arguments, book.held_by({member.pid for member in server.members}), book.by_index)
    expected = None if again else _expected(load, server, len(gpus), checkpoint, past)
    return transfer(book.received, gpus, expected, began_s=span.began_s, ended_s=span.ended_s, now_s=now_s)


def _expected(
    load: Load, server: Server, gpus: int, checkpoint: Checkpoint | None, past: Matching
) -> Expected | None:
    fits = checkpoint is not None and checkpoint.model == server.arguments.model
    printed = load.log_phases.figures.get("checkpoint_gib")
    return expectation(
        shards_of(server.arguments, gpus),
        past_load_mib=past.received_mib,
        checkpoint_bytes=checkpoint.weight_bytes if checkpoint is not None and fits else None,
        printed_gib=printed.value if printed is not None else None,
    )
