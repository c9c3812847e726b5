"""Combinations of choices and local files that cannot work, each in one sentence before anything connects."""

import os

from tui.files import is_pipe
from tui.settings import Choices, UsageFault


def check_url_alone(choices: Choices) -> None:
    """Refuse what needs a HOST where a URL alone is given."""
    given = {"--port": choices.port, "--log": choices.log, "--pid": choices.pid}
    for flag, value in given.items():
        if value is not None:
            raise UsageFault(f"{flag} needs a HOST: with --url alone nothing is read on the server's machine")


def check_certificates(name: str) -> None:
    """Refuse a file that holds no certificate. Raises UsageFault."""
    import ssl

    if is_pipe(os.path.expanduser(name)):
        raise UsageFault(f"--ca-file {name} is a pipe: name a file")
    try:
        ssl.create_default_context(cafile=os.path.expanduser(name))
    except ssl.SSLError:
        raise UsageFault(f"--ca-file {name} holds no certificate in PEM form") from None
    except OSError as error:
        raise UsageFault(f"--ca-file {name} cannot be read: {error.strerror}") from None


def check_remote_paths(choices: Choices, host: str) -> None:
    """Refuse paths on a host that depend on where one is."""
    if choices.ca_file is not None and not choices.ca_file.startswith("/"):
        raise UsageFault(
            f"--ca-file {choices.ca_file} is a path on {host}, which asks the server: begin it with /"
        )
