"""The command line: which words go to which command, and what is said of those that go to none."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tui import __version__, cli
from tui.settings import UsageFault

SCRIPT = Path(sys.executable).parent / "tminus"


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Let neither variables nor files of whoever runs the tests have a say."""
    for name in [name for name in os.environ if name.startswith("TMINUS_")]:
        monkeypatch.delenv(name)
    (tmp_path / "config.toml").touch()
    monkeypatch.setenv("TMINUS_CONFIG", str(tmp_path / "config.toml"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def tminus(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the real command without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "tui", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize(
    ("given", "run"),
    [
        ([], ["watch"]),
        (["gpu-box"], ["watch", "gpu-box"]),
        (["--port", "1"], ["watch", "--port", "1"]),
        (["watch", "demo"], ["watch", "demo"]),
        (["demo"], ["demo"]),
        (["wait", "gpu-box"], ["wait", "gpu-box"]),
        (["--version"], ["--version"]),
        (["--help"], ["--help"]),
    ],
)
def test_a_line_without_a_command_is_a_watch(given: Sequence[str], run: list[str]) -> None:
    assert cli.with_command(given) == run


WRONG = [
    (["--url", "localhost:8000"], "--url has no scheme: write http://localhost:8000"),
    (["wait", "--url", "ftp://h"], "--url must begin with http:// or https://, not ftp://"),
    (["wait", "--url", "http://h:99999"], "--url must be a port from 1 to 65535, not 99999"),
    (["--port", "0"], "--port must be a port from 1 to 65535, not 0"),
    (["--port", "-1"], "--port must be a port from 1 to 65535, not -1"),
    (["--port", "70000"], "--port must be a port from 1 to 65535, not 70000"),
    (["--port", "http"], "--port must be a whole number, not 'http'"),
    (["--pid", "-4"], "--pid must be a process id"),
    (["--interval", "0"], "--interval must be from 0.2 to 60 seconds, not '0'"),
    (["--interval", "-1"], "--interval must be from 0.2 to 60 seconds, not '-1'"),
    (["wait", "--timeout", "-5"], "--timeout must be longer than 0"),
    (["wait", "--timeout", "soon"], "--timeout must be a time such as 90, 90s, 20m or 1h, not 'soon'"),
    (["bench", "--concurrency", "0"], "--concurrency must be 1 or more, not 0"),
    (["bench", "--requests", "-3"], "--requests must be 1 or more, not -3"),
    (["demo", "--speed", "0"], "--speed must be from 0.1 to 100"),
    (
        ["--ready-on", "tokens"],
        "--ready-on must be token, model or health, not 'tokens'; did you mean token?",
    ),
    (["--glyphs", "emoji"], "--glyphs must be auto, block, ascii or braille"),
    (["--ca-file", "/no/such/file.pem"], "--ca-file /no/such/file.pem cannot be read: No such file"),
    (["--ssh-config", "/no/such/file"], "--ssh-config cannot be read: /no/such/file: No such file"),
    (["--ssh-config", "/"], "--ssh-config is a directory: /"),
    (["wait", "h", "--ssh-cmd", ""], "--ssh-cmd must not be empty"),
    (["wait", "h", "--ssh-cmd", "''"], "--ssh-cmd names no program"),
    (["h", "--ssh-cmd", "ssh -J 'x"], "--ssh-cmd has a quote or a backslash that is not closed: ssh -J 'x"),
    (
        ["h", "--ssh-cmd", "my-ssh -v"],
        "--ssh-cmd names a program that is not on this machine: my-ssh",
    ),
    (["explain", "/dev/zero"], "/dev/zero cannot be read: it is a device; name a log file"),
    (["--log", "/"], "--log / is a directory; name the file"),
    (["wait", "--", "-oProxyCommand=true"], "HOST cannot begin with a dash"),
    (["wait", "two words"], "HOST holds a space"),
    (["wait", ""], "HOST must not be empty"),
    (["--url", "http://h:1", "--log", "/x"], "--log needs a HOST: with --url alone"),
    (["wait", "--url", "http://h:1", "--pid", "4"], "--pid needs a HOST"),
    (["--api-key-env", "sk-abc"], "must be the NAME of an environment variable"),
    (["--api-key-env", "NO_SUCH_KEY"], "--api-key-env NO_SUCH_KEY: the variable NO_SUCH_KEY is not set"),
    (["wait", "gpu-box", "--ca-file", "own.pem"], "--ca-file own.pem is a path on gpu-box"),
    (["--json"], "--json goes with --once"),
    (["--once"], "write --once --json"),
    (["--porr", "1"], "there is no option --porr; did you mean --port?"),
    (["wait", "--time-out", "1"], "there is no option --time-out; did you mean --timeout?"),
    (["--xyzzy"], "there is no option --xyzzy; see tminus watch --help"),
    (["wait", "--timeout"], "option '--timeout' requires an argument"),
    (["explain", "--engine"], "option '--engine' requires an argument"),
    (["wait", "one", "two", "one"], "HOST names one host twice: one"),
    (["wait", "one", "two", "--pid", "4"], "--pid 4 is a process of one host: name one HOST, not 2"),
    (["bench", "one", "two"], "bench takes one HOST, not 2: one, two"),
    (["diagnose", "one", "two", "three"], "diagnose takes one HOST, not 3: one, two, three"),
    (["gpu-box", "wait"], "put the command first: tminus wait ..."),
    (
        ["--json", "wait"],
        "put the command first: tminus wait ...; for a host of that name: tminus watch wait",
    ),
]


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=[" ".join(each[0]) for each in WRONG])
def test_what_is_wrong_is_said_in_one_line_and_ends_with_2(
    arguments: list[str], said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code = cli.run(arguments)

    out, err = capfd.readouterr()
    assert code == 2
    assert out == ""
    assert err.startswith("tminus: ")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [["h", "--ssh-config"], ["bench", "--data"], ["wait", "--url", "https://h", "--ca-file"]],
    ids=["ssh-config", "data", "ca-file"],
)
def test_a_pipe_in_place_of_a_file_is_refused_and_not_waited_for(
    arguments: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")

    assert cli.run([*arguments, str(tmp_path / "pipe")]) == 2
    err = capfd.readouterr().err
    assert "is a pipe" in err
    assert err.count("\n") == 1


def test_a_configuration_that_is_named_and_missing_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TMINUS_CONFIG", str(tmp_path / "missing.toml"))

    assert cli.run(["wait"]) == 2
    missing = f"tminus: TMINUS_CONFIG names a file that is not there: {tmp_path / 'missing.toml'}\n"
    assert capfd.readouterr().err == missing


@pytest.mark.parametrize("term", ["dumb", ""])
def test_without_a_terminal_the_screen_is_refused_and_wait_is_named(term: str) -> None:
    done = tminus(TERM=term)

    assert done.returncode == 2
    assert "tminus wait" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_demo_without_a_terminal_is_refused_and_leaves_nothing() -> None:
    done = tminus("demo")

    assert done.returncode == 2
    assert "terminal" in done.stderr


def test_an_unknown_theme_is_refused_with_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    from tui.commands.screen import theme_named

    assert theme_named(None) is None
    assert theme_named("light") == theme_named("tminus-light") == "tminus-light"
    with pytest.raises(UsageFault, match=r"--theme lihgt: there is no such theme; .*did you mean light\?"):
        theme_named("lihgt")


def test_a_wrong_key_in_the_file_names_the_file_and_the_nearest_key(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").write_text('them = "dark"\n')

    assert cli.run(["wait"]) == 2
    assert capfd.readouterr().err == (
        f"tminus: {tmp_path / 'config.toml'}: there is no setting 'them'; did you mean theme?\n"
    )


def test_a_secret_given_for_its_variable_is_not_shown(capfd: pytest.CaptureFixture[str]) -> None:
    cli.run(["wait", "--api-key-env", "sk-very-secret"])

    assert "secret" not in capfd.readouterr().err


def test_a_certificate_file_without_a_certificate_is_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "own.pem").write_text("nothing")

    assert cli.run(["wait", "--url", "https://h", "--ca-file", str(tmp_path / "own.pem")]) == 2
    assert "holds no certificate in PEM form" in capfd.readouterr().err


def test_the_version_is_printed() -> None:
    done = tminus("--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, f"tminus {__version__}\n", "")


def test_help_names_the_commands_and_the_exit_codes() -> None:
    done = tminus("--help")

    assert done.returncode == 0
    for word in (*cli.COMMANDS, "Exit codes", "130 Ctrl-C"):
        assert word in done.stdout


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_every_command_explains_itself(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run([command, "--help"]) == 0
    assert f"Usage: tminus {command}" in capfd.readouterr().out


def test_a_package_that_shadows_ours_is_named(tmp_path: Path) -> None:
    (tmp_path / "widgets").mkdir()
    (tmp_path / "widgets" / "__init__.py").touch()

    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([SCRIPT, "--version"], capture_output=True, text=True, env=environment, check=False)

    assert done.returncode == 2
    assert done.stderr == (
        f"tminus: another package named widgets shadows this one: {tmp_path / 'widgets'}; "
        "unset PYTHONPATH or start elsewhere\n"
    )


def test_a_folder_named_widgets_beside_the_starting_place_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "widgets").mkdir()
    (tmp_path / "widgets" / "__init__.py").touch()
    done = subprocess.run([SCRIPT, "--version"], capture_output=True, text=True, cwd=tmp_path, check=False)

    assert done.returncode == 0


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    command = f"{sys.executable} -m tui wait --timeout 3s --no-record --json | head -c 1 >/dev/null"

    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=False)

    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("redirection", "code"),
    [
        (">&-", 3),
        (">&- 2>&- <&-", 3),
        ("2>/dev/full", 3),
        (">/dev/full", cli.OUTPUT_FULL),
        (">/dev/full 2>/dev/full", cli.OUTPUT_FULL),
        ("| head -n 1 >/dev/null", cli.BROKEN_PIPE),
    ],
)
def test_output_that_cannot_be_written_is_not_taken_for_a_failed_server(redirection: str, code: int) -> None:
    if "/dev/full" in redirection and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    # One that ends by its output does so at a line, long before its time is up, however late a reader leaves.
    timeout_s = 1 if code == 3 else 50
    wait = f"{sys.executable} -m tui wait --url http://127.0.0.1:1 --timeout {timeout_s}s --json"
    script = f"exec 3>&1; {{ {wait}; echo $? >&3; }} {redirection}"

    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout.splitlines()[-1] == str(code)
    assert "Traceback" not in done.stderr


def test_ctrl_c_while_python_still_imports_is_130_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")

    done = tminus("wait", PYTHONPATH=str(tmp_path))

    assert (done.returncode, done.stderr) == (130, "")


def test_a_parent_that_ignores_its_childrens_ends_is_no_matter() -> None:
    start = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
        "os.execv(sys.executable, [sys.executable, '-m', 'tui', '--once', '--json', '--no-record'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", start], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", ["replay", "export"])
def test_the_name_of_a_file_cannot_draw_on_the_terminal(
    command: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    odd = tmp_path / "x\x1b[31mred\nnext\x07\u202e.jsonl.gz"
    odd.write_bytes(b"no recording")

    assert cli.run([command, str(odd)]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert err.rstrip("\n").isprintable()
    assert "xred next.jsonl.gz" in err
