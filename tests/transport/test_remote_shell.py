"""The quoting of a command line, tried on the shells themselves."""

import subprocess
from collections.abc import Callable

import pytest

from tui.transport.remote_shell import command_line

SHELLS = ["bash", "dash", "fish", "csh"]
ARGUMENTS = [
    "a b", "it's", "back\\slash", "ends\\", "\\'", "a\\\\b", "!x", "bang!", "!!", "\\!", "$HOME", "`id`",
    "$(id)", "*", "~", "{a,b}", "[x]", "%d", "%%", "", '"q"', "a;b&c|d>e<f", "^", "#", "=x", "-n", "'\\''",
    "\\n\\", "\n", "two\nlines\n", "tab\there", "é☃", "a\rb", "\x01\x7f",
]  # fmt: skip


@pytest.mark.parametrize("shell", SHELLS)
def test_every_shell_passes_every_argument_on_unchanged(shell: str, needs: Callable[[str], str]) -> None:
    said = _run(needs(shell), ["printf", "%s\\0", *ARGUMENTS])
    assert said.decode().split("\0")[:-1] == ARGUMENTS


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("argument", ARGUMENTS)
def test_every_shell_passes_each_argument_on_by_itself(
    shell: str, argument: str, needs: Callable[[str], str]
) -> None:
    assert _run(needs(shell), ["printf", "%s", argument]).decode() == argument


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", ["x = 'it''s' % 1\n", "'\\!\\'", "x"])
def test_a_program_of_4000_bytes_arrives(shell: str, line: str, needs: Callable[[str], str]) -> None:
    stub = line * (4_000 // len(line))
    assert _run(needs(shell), ["printf", "%s", stub]).decode() == stub


def test_bytes_that_are_no_text_pass_through(needs: Callable[[str], str]) -> None:
    argument = b"\xff\xfe".decode("utf-8", "surrogateescape")
    assert _run(needs("dash"), ["printf", "%s", argument]) == b"\xff\xfe"


@pytest.mark.parametrize("argument", ARGUMENTS)
def test_the_line_is_printable_ascii_without_a_newline(argument: str) -> None:
    assert all(" " <= character <= "~" for character in command_line(["printf", argument]))


def test_no_shell_is_left_waiting_above_the_command(needs: Callable[[str], str]) -> None:
    for shell in SHELLS:
        with subprocess.Popen(
            [needs(shell), "-c", command_line(["sh", "-c", "echo $$"])], stdout=subprocess.PIPE
        ) as process:
            said, _ = process.communicate()
            assert int(said) == process.pid, shell


def _run(shell: str, arguments: list[str]) -> bytes:
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C"}
    done = subprocess.run(
        [shell, "-c", command_line(arguments)], capture_output=True, env=environment, check=False
    )
    assert done.stderr == b""
    return done.stdout
