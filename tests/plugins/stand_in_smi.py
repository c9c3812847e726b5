"""A stand-in for nvidia-smi: the fields that are asked for, a round each -lms, as a JSON file says.

``gpus``: for each its cells by field ("[N/A]" where there is none), or a text printed in place of its row;
``refused`` fields end it with 2; ``code`` ends it after a round, with ``words`` printed before; ``silent``:
it prints nothing; ``row_s``: it takes so long for each row. Like some versions of the real one it goes on
when nobody reads it and outlives its parent.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any


def main(state_file: Path, arguments: list[str]) -> int:
    """Print until told to end."""
    options = [argument.partition("=") for argument in arguments if argument.startswith("--")]
    given = {name: value for name, _, value in options}
    assert given["--format"] == "csv,noheader,nounits"
    fields = given["--query-gpu"].split(",")
    interval_s = int(arguments[arguments.index("-lms") + 1]) / 1000
    while True:
        state: dict[str, Any] = json.loads(state_file.read_text())
        refused = [field for field in fields if field in state.get("refused", ())]
        if refused:
            return put([f'Field "{refused[0]}" is not a valid field to query.', ""], 2)
        if not state.get("silent"):
            rows = [row(gpu, fields, state.get("end", "")) for gpu in state["gpus"]]
            put_round(rows, state.get("row_s", 0.0))
        if "code" in state:
            return put(state.get("words", []), state["code"])
        time.sleep(interval_s)


def row(gpu: "dict[str, str] | str", fields: list[str], end: str) -> str:
    """Return the line of one GPU."""
    return gpu if isinstance(gpu, str) else ", ".join(gpu.get(field, "[N/A]") for field in fields) + end


def put_round(lines: list[str], row_s: float) -> None:
    """Print lines in one write, or one by one where each takes its time, as of a slow driver."""
    if not row_s:
        put(lines, 0)
        return
    for line in lines:
        put([line], 0)
        time.sleep(row_s)


def put(lines: list[str], code: int) -> int:
    """Print lines in one write; return the code."""
    try:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
    except BrokenPipeError:
        return code
    return code


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
