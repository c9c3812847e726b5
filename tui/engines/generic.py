"""Any server that tminus has no table for: what web servers, Python, CUDA and NCCL print everywhere."""

import re

from tui.engines.base import Engine, Flags
from tui.engines.header import HeaderForm
from tui.engines.lines import PYTHON_EXCEPTION, UVICORN_ACCESS
from tui.engines.phase import Phase
from tui.engines.rules import bars, begins, serves, shutdowns, within
from tui.requests import Matcher

GENERIC = Engine(
    name="generic",
    title="server",
    matcher=Matcher(engine="generic", argv=[], titles=[], environment=[]),
    default_port=8000,
    flags=Flags(host=("--host",), port=("--port",), model=("--model",), served_name=()),
    roles=(),
    header=HeaderForm(
        record=re.compile(
            r"\[?(?P<time>\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)\]? (?:- )?(?:(?P<level>[A-Z]+):? (?:- )?)?"
        )
    ),
    sign=re.compile(r"(?!)"),
    rules=(
        *within(Phase.DISTRIBUTED, (r"\S+:\d+:\d+ \[\d+\] NCCL INFO", "NCCL"), heartbeat=True),
        *bars(Phase.WEIGHTS, "shards", (r"(?:Loading|Fetching) ", "any")),
        *begins(Phase.START_API, (r"Started server process|Waiting for application startup", "uvicorn")),
        *serves((r"Application startup complete|Uvicorn running on ", "uvicorn")),
        *shutdowns((r"Shutting down", "uvicorn")),
    ),
    faults=(),
    frames=((Phase.WEIGHTS, frozenset(("load_model", "load_weights"))),),
    error=re.compile(rf"\bERROR\b|Traceback \(most recent call last\)|{PYTHON_EXCEPTION}"),
    warning=re.compile(r"\bWARN(?:ING)?\b|[Ww]arning:"),
    access=UVICORN_ACCESS,
    access_hint=" HTTP/",
    first_lines=(),
)
