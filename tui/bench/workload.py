"""The workload of a benchmark, checked before anything is sent."""

from urllib.parse import urlsplit

from tui.events import BenchSpec

CONCURRENCY = 8
REQUESTS = 64
INPUT_TOKENS = 256
OUTPUT_TOKENS = 128


def fault_of(spec: BenchSpec) -> str | None:
    """Return why a workload cannot be run, in one sentence; None when it can."""
    for name in ("concurrency", "requests", "input_tokens", "output_tokens"):
        value: int = getattr(spec, name)
        if value < 1:
            return f"{name.replace('_', ' ')} must be at least 1, not {value}"
    return url_fault(spec.url)


def url_fault(url: str) -> str | None:
    """Return why a URL cannot be asked, in one sentence; None when it can."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        usable = False
    return None if usable else f"{url!r} is not a URL of the form http://host:port"
