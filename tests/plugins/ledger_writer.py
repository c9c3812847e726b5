"""A process that adds runs to a ledger and prints the id of each that was kept: PATH NAME COUNT.

NAME are two hexadecimal digits with which its ids begin. What is not kept is printed behind a "!".
"""

import subprocess
import sys
from pathlib import Path

from run_entries import result, run_entry

from tui.benchmark import BenchRecord
from tui.runs.entry import RunEntry
from tui.runs.ledger import Ledger

RECORDS = 400
HERE = Path(__file__).parent


def entry_of(name: str, number: int, records: int = RECORDS) -> RunEntry:
    """Return the run of that number, with records that differ from all others'."""
    own = tuple(
        BenchRecord(each / 7.0 + number, 20.0 + each / 3.0, None, 500.0 + each, 501.5, 256, 1024, 250)
        for each in range(records)
    )
    return run_entry(result=result(f"{name}{number:06x}"), records=own)


def start(path: Path, name: str, count: int, **environment: str) -> "subprocess.Popen[str]":
    """Start the process."""
    return subprocess.Popen(
        [sys.executable, __file__, str(path), name, str(count)],
        env={"PYTHONPATH": f"{HERE}:{HERE.parent.parent}", **environment},
        stdout=subprocess.PIPE,
        text=True,
    )


def main(path: Path, name: str, count: int) -> None:
    """Add so many runs."""
    ledger = Ledger(path, busy_s=60.0)
    for number in range(count):
        entry = entry_of(name, number)
        sentence = ledger.add_run(entry)
        sys.stdout.write(f"!{sentence}\n" if sentence else f"{entry.id}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
