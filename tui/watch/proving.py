"""When to ask under what the followed server runs, and what: decided here, sent by the session."""

from tui.engines.environment import prefixes
from tui.requests import ProveRequest
from tui.watch.meaning import Meaning


def prove_request(state: Meaning) -> ProveRequest | None:
    """Return what to ask of the host now; None while there is nothing to ask, and once it has answered.

    A server is asked about once it is ready, or when a benchmark is under way: then its ranks and libraries
    are all there. The request stays the same until the answer came, so that whoever sends it once for each
    new value asks once a server; after a link that was lost meanwhile it has to be sent again.
    """
    server = state.target
    if server is None or state.without_agent or state.link.state != "up" or state.provenance is not None:
        return None
    if not state.ready and state.bench.running is None:
        return None
    arguments = server.arguments
    return ProveRequest(
        pid=server.pid,
        started_s=server.started_s,
        environment=prefixes(server.engine),
        hub_model=arguments.model,
        hub_cache=arguments.hub_cache,
        revision=arguments.revision,
    )
