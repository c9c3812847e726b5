"""On what kind of file system a model lies, by the list of mounts alone."""

import os
from pathlib import Path

import pytest

from tui.agent.signals.storage import file_system, model_places, mounted_as

MOUNTS = rb"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /mnt rw - tmpfs tmpfs rw
31 22 0:41 / /mnt/models rw shared:5 master:2 - nfs4 files:/models rw,vers=4.2
32 22 0:42 / /mnt/big\040disk rw - fuse.juicefs JuiceFS:big rw
33 22 0:43 / /twice rw - ext4 /dev/sdb rw
34 22 0:44 / /twice rw - lustre 10.0.0.1@tcp:/fs rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/mnt/models/qwen", "nfs4"),
        ("/mnt/models", "nfs4"),
        ("/mnt/modelsother", "tmpfs"),
        ("/mnt/big disk/qwen", "fuse.juicefs"),
        ("/twice/qwen", "lustre"),
        ("/data/qwen", "ext4"),
    ],
    ids=["inside", "itself", "beside", "space", "covered", "root"],
)
def test_the_nearest_mount_above_a_path_tells_its_kind(path: str, kind: str) -> None:
    assert mounted_as(MOUNTS, path.encode()) == kind


def test_without_mounts_or_paths_nothing_is_known() -> None:
    assert mounted_as(b"", b"/x") is None
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
