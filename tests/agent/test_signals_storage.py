"""On what kind of file system a model lies, by the list of mounts alone."""

import os
from pathlib import Path

from tui.agent.signals.storage import file_system, model_places


def test_without_a_process_or_paths_nothing_is_known() -> None:
    assert file_system(os.getpid(), []) is None
    assert file_system(2**22 + 1, ["/x"]) is None


def test_the_mounts_of_a_real_process_tell_of_proc() -> None:
    assert file_system(os.getpid(), ["/proc/self"]) == "proc"


def test_a_model_is_looked_for_where_the_server_would() -> None:
    assert model_places(os.getpid(), None) == []
    assert model_places(os.getpid(), {"model": "/models/qwen"}) == ["/models/qwen"]
    assert model_places(os.getpid(), {"model": "s3://bucket/qwen"}) == []
    assert model_places(os.getpid(), {"model": "./qwen", "cwd": "/srv"}) == ["/srv/./qwen"]


def test_a_name_on_the_hub_lies_in_the_cache_that_the_server_was_told(tmp_path: Path) -> None:
    plan = {"model": "org/qwen", "environment": {"HF_HOME": str(tmp_path)}}
    assert model_places(os.getpid(), plan) == [f"{tmp_path}/hub"]
