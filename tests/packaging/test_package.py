"""What the wheel carries and declares. .ci/run installs it in an empty environment outside the checkout."""

import subprocess
import sys
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_the_data_of_demo_and_themes_lies_inside_the_packages() -> None:
    assert files("tui.demo").joinpath("data/server.jsonl").is_file()
    assert files("tui.demo").joinpath("data/gpus.json").is_file()
    assert files("tui.demo").joinpath("scenarios/ready.toml").is_file()
    assert [each.name for each in files("themes").iterdir() if each.name.endswith(".toml")]


def test_the_wheel_holds_the_three_packages_under_their_own_names() -> None:
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"] == ["tui", "widgets", "themes"]
    assert PROJECT["project"]["scripts"] == {"tminus": "tui.__main__:main"}


def test_every_dependency_has_a_lower_and_an_upper_bound() -> None:
    for requirement in PROJECT["project"]["dependencies"]:
        assert ">=" in requirement, requirement
        assert "<" in requirement, requirement


def test_one_frame_is_drawn_without_a_terminal(tmp_path: Path) -> None:
    script = ROOT / "tests" / "packaging" / "one_frame.py"

    done = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=tmp_path, check=False)

    assert done.returncode == 0, done.stderr
    assert "missing: nothing" in done.stdout
