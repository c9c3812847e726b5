"""Flags before environment before file before defaults, and errors that say where the wrong value stands."""

from pathlib import Path

import pytest

from tui import settings
from tui.settings import Choices, UsageFault, choose, for_each_host


def write(folder: Path, text: str) -> Path:
    file = folder / "config.toml"
    file.write_text(text)
    return file


def test_nothing_given_means_the_defaults(tmp_path: Path) -> None:
    assert choose({}, {}, tmp_path / "missing.toml") == Choices()


def test_every_setting_has_a_reader_and_a_field() -> None:
    assert {*settings.NAMES, "others"} == set(Choices.__dataclass_fields__)


def test_the_file_is_read(tmp_path: Path) -> None:
    file = write(tmp_path, 'port = 30000\nmouse = false\ntimeout = "1h"\ninterval = 0.5\n')

    chosen = choose({}, {}, file)

    assert (chosen.port, chosen.mouse, chosen.timeout, chosen.interval) == (30000, False, 3600.0, 0.5)


def test_the_environment_wins_over_the_file_and_a_flag_over_both(tmp_path: Path) -> None:
    file = write(tmp_path, "port = 1\n")

    assert choose({"port": None}, {"TMINUS_PORT": "2"}, file).port == 2
    assert choose({"port": "3"}, {"TMINUS_PORT": "2"}, file).port == 3


def test_words_may_be_a_list_in_the_file_and_each_counts_once(tmp_path: Path) -> None:
    assert choose({}, {}, None).fail_on == ()
    listed = choose({}, {}, write(tmp_path, 'fail_on = ["hung", "stalled", "hung"]\n'))
    assert listed.fail_on == ("hung", "stalled")

    with pytest.raises(UsageFault, match=r"fail_on must be stalled, hung or suspended, .* not '3'"):
        choose({}, {}, write(tmp_path, "fail_on = [3]\n"))


def test_several_hosts_may_be_words_of_a_line_of_a_variable_or_a_list_in_the_file(tmp_path: Path) -> None:
    for chosen in (
        choose({"host": ["a", "b@c", "d"]}, {}, None),
        choose({"host": None}, {"TMINUS_HOST": "a  b@c d"}, None),
        choose({}, {}, write(tmp_path, 'host = ["a", "b@c", "d"]\n')),
        choose({}, {}, write(tmp_path, 'host = "a b@c d"\n')),
    ):
        assert (chosen.host, chosen.others) == ("a", ("b@c", "d"))
        assert [(each.host, each.others) for each in for_each_host(chosen)] == [
            ("a", ()),
            ("b@c", ()),
            ("d", ()),
        ]


def test_one_host_or_none_is_what_it_was() -> None:
    for chosen in (choose({}, {}, None), choose({"host": ["a"]}, {"TMINUS_HOST": "b c"}, None)):
        assert chosen.others == ()
        assert for_each_host(chosen) == (chosen,)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a", "b", "a"], "HOST names one host twice: a"),
        (["a", "-oProxyCommand=x"], "HOST cannot begin with a dash"),
        (["a", "two words"], "HOST holds a space"),
        (["a", ""], "HOST must not be empty"),
        (["a", 3], "HOST must be text, not 3"),
        (7, "HOST must be text, not 7"),
    ],
)
def test_hosts_that_cannot_be_meant_are_refused(given: object, said: str) -> None:
    with pytest.raises(UsageFault, match=f"^{said}"):
        choose({"host": given}, {}, None)


def test_an_empty_variable_is_not_set() -> None:
    assert choose({}, {"TMINUS_PORT": ""}, None).port is None


def test_a_wrong_value_that_another_layer_overrules_does_no_harm() -> None:
    assert choose({"port": "8000"}, {"TMINUS_PORT": "abc"}, None).port == 8000


def test_a_switch_is_turned_off_by_its_variable_or_the_variable_of_its_opposite() -> None:
    assert not choose({}, {"TMINUS_MOUSE": "0"}, None).mouse
    assert not choose({}, {"TMINUS_NO_MOUSE": "1"}, None).mouse
    assert choose({"mouse": True}, {"TMINUS_NO_MOUSE": "1"}, None).mouse


def written(file: str) -> dict[str, tuple[str, object]]:
    """Return settings as a variable has them, and as they are read; ``file`` is one that can be read."""
    return {
        "port": ("8000", 8000),
        "pid": ("42", 42),
        "url": ("http://h:1/v1", "http://h:1"),
        "interval": ("2", 2.0),
        "timeout": ("20m", 1200.0),
        "speed": ("3", 3.0),
        "glyphs": ("ascii", "ascii"),
        "ready_on": ("model", "model"),
        "fail_on": ("hung, stalled", ("hung", "stalled")),
        "ssh_config": (file, file),
        "ssh_cmd": ("sh -c 'a b'", ("sh", "-c", "a b")),
        "api_key_env": ("KEY", "KEY"),
        "kubectl": ("prod/llm-0", "prod/llm-0"),
        "srun": ("42/n1", "42/n1"),
        "concurrency": ("1, 8,8", (1, 8)),
        "requests": ("7", 7),
        "input_tokens": ("7", 7),
        "output_tokens": ("7", 7),
        "rate": ("0.5,4", (0.5, 4.0)),
        "arrival": ("constant", "constant"),
        "duration": ("2m", 120.0),
        "warmup": ("0", 0.0),
        "turns": ("3", 3),
        "prefix_tokens": ("0", 0),
        "data": (file, file),
        "seed": ("0", 0),
        "ttft_limit_ms": ("200", 200.0),
        "tpot_limit_ms": ("12.5", 12.5),
        "e2e_limit_ms": ("3000", 3000.0),
        "flush_cache": ("1", True),
    }


@pytest.mark.parametrize("name", settings.NAMES)
def test_every_setting_can_be_given_by_its_variable(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    values = written(str(tmp_path / "file"))
    default = getattr(Choices(), name)
    if isinstance(default, bool):
        given, wanted = ("0", False) if default else ("1", True)
    elif name in values:
        given, wanted = values[name]
    elif isinstance(default, int):
        given, wanted = "7", 7
    else:
        given, wanted = "x", "x"

    assert getattr(choose({}, {"TMINUS_" + name.upper(): given}, None), name) == wanted


@pytest.mark.parametrize(
    ("name", "given"), [("docker", "-v"), ("podman", "a b"), ("kubectl", "llm-0"), ("srun", "x")]
)
def test_a_name_of_a_container_that_cannot_be_one_is_refused(name: str, given: str) -> None:
    with pytest.raises(UsageFault, match=f"^--{name} "):
        choose({name: given}, {}, None)


def test_two_ways_inside_cannot_be_meant_together() -> None:
    with pytest.raises(UsageFault) as caught:
        choose({"docker": "vllm", "srun": "42"}, {}, None)

    assert str(caught.value) == "--docker and --srun cannot be meant together: give one of them"


def test_a_way_inside_takes_the_place_of_another_one_of_weaker_standing(tmp_path: Path) -> None:
    file = write(tmp_path, "docker = 'vllm'\n")
    chosen = choose({"kubectl": "prod/llm-0"}, {"TMINUS_SRUN": "42"}, file)

    assert (chosen.docker, chosen.srun, chosen.kubectl) == (None, None, "prod/llm-0")
    assert choose({}, {}, write(tmp_path, "srun = 42\n")).srun == "42"


def test_an_unknown_key_names_the_file_and_the_nearest_key(tmp_path: Path) -> None:
    file = write(tmp_path, "ports = 1\n")

    with pytest.raises(UsageFault) as caught:
        choose({}, {}, file)

    assert str(caught.value) == f"{file}: there is no setting 'ports'; did you mean port?"


def test_a_wrong_value_in_the_file_names_the_file_and_the_key(tmp_path: Path) -> None:
    file = write(tmp_path, 'port = "eight"\n')

    with pytest.raises(UsageFault, match=r"config\.toml: port must be a whole number, not 'eight'"):
        choose({}, {}, file)


def test_a_wrong_value_in_a_variable_names_the_variable() -> None:
    with pytest.raises(UsageFault, match=r"TMINUS_INTERVAL must be from 0\.2 to 60 seconds, not '0'"):
        choose({}, {"TMINUS_INTERVAL": "0"}, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [("port = ", "is no valid TOML"), ("\x00", "is no valid TOML"), ("[port]\na = 1", "port")],
)
def test_a_broken_file_is_said_and_not_raised_through(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageFault, match=said):
        choose({}, {}, write(tmp_path, text))


def test_a_file_that_is_no_text_is_said(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xff\xfe")

    with pytest.raises(UsageFault, match="is no text in UTF-8"):
        choose({}, {}, file)


def test_a_file_that_is_named_must_be_there(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    with pytest.raises(UsageFault, match=f"TMINUS_CONFIG names a file that is not there: {mine}"):
        settings.config_file({"TMINUS_CONFIG": str(mine)})
    mine.touch()
    assert settings.config_file({"TMINUS_CONFIG": str(mine)}) == mine
    assert settings.config_file({"XDG_CONFIG_HOME": str(tmp_path)}).name == "config.toml"


def test_the_file_may_be_elsewhere(tmp_path: Path) -> None:
    assert settings.config_path({"TMINUS_CONFIG": str(tmp_path / "mine.toml")}) == tmp_path / "mine.toml"
    assert settings.config_path({}).name == "config.toml"
