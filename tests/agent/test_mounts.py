"""What is mounted where, by the lines of mountinfo."""

import os

import pytest

from tui.agent.mounts import mount_of, mounts_of, parse

MOUNTS = rb"""22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /mnt rw - tmpfs tmpfs rw
31 22 0:41 / /mnt/models rw shared:5 master:2 - nfs4 files:/models rw,vers=4.2
32 22 0:42 / /mnt/big\040disk rw - fuse.juicefs JuiceFS:big rw
33 22 0:43 / /twice rw - ext4 /dev/sdb rw
34 22 0:44 / /twice rw - lustre 10.0.0.1@tcp:/fs rw
35 22 0:45 / /new\012line\134x rw - ceph mon:/ rw
36 22 here / /odd rw - ext4 /dev/sdc rw
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
        ("/new\nline\\x/qwen", "ceph"),
        ("/data/qwen", "ext4"),
    ],
    ids=["inside", "itself", "beside", "space", "covered", "escapes", "root"],
)
def test_the_nearest_mount_above_a_path_holds_it(path: str, kind: str) -> None:
    found = mount_of(path.encode(), parse(MOUNTS))
    assert found is not None
    assert found.kind.decode() == kind


def test_numbers_and_devices_are_told_and_odd_lines_are_left_out() -> None:
    found = parse(MOUNTS)
    assert [mount.number for mount in found] == [22, 30, 31, 32, 33, 34, 35]
    assert found[0].device == (8, 1)
    assert [mount.number for mount in found if mount.user_space] == [32]


def test_without_mounts_nothing_holds_a_path() -> None:
    assert mount_of(b"/x", parse(b"")) is None


def test_a_file_of_this_process_is_on_the_device_that_its_mount_tells() -> None:
    found = mount_of(b"/proc/self/stat", mounts_of("self"))
    assert found is not None
    status = os.stat("/proc/self")
    assert found.device == (os.major(status.st_dev), os.minor(status.st_dev))
