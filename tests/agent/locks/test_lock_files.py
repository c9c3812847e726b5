"""How the lock reader understands /proc/locks, environments, mounts and walks, without processes."""

import os
from pathlib import Path
from typing import cast

import pytest

from tui.agent.locks import existence, kernel, openers, places, server, waits
from tui.agent.mounts import Mount, parse

LOCKS = b"""1: FLOCK  ADVISORY  WRITE 19699 fe:00:2590736 0 EOF
1: -> FLOCK  ADVISORY  WRITE 19769 fe:00:2590736 0 EOF
1:  -> FLOCK  ADVISORY  WRITE 19770 fe:00:2590736 0 EOF
2: POSIX  ADVISORY  READ  500 00:2a:17 100 109
3: OFDLCK ADVISORY  WRITE -1 08:02:18 0 EOF
4: LEASE  ACTIVE    READ  900 08:02:19 0 EOF
5: POSIX  ADVISORY  WRITE 0 <none>:0 0 EOF
a line of another kind
"""


def test_who_waits_is_told_with_what_it_waits_for() -> None:
    found = [(lock.holder, lock.file.key, lock.waiters) for lock in kernel.parse(LOCKS)]
    assert found == [
        (19699, (254, 0, 2590736), [19769, 19770]),
        (500, (0, 42, 17), []),
        (-1, (8, 2, 18), []),
    ]


def test_of_two_files_with_one_inode_the_one_on_the_locks_device_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two disks cannot be had in a test: two names of one file are told as if they were on two mounts."""
    first, second = tmp_path / "first", tmp_path / "second"
    first.touch()
    second.hardlink_to(first)
    inode = first.stat().st_ino
    with first.open() as one, second.open() as other:
        descriptors = {str(one.fileno()): 1, str(other.fileno()): 2}
        mounts = [Mount(1, (8, 1), b"/a", b"ext4"), Mount(2, (8, 2), b"/b", b"ext4")]

        def on_mounts(path: str) -> bytes:
            mount = descriptors.get(path.rpartition("/")[2], 0)
            return b"pos:\t0\nflags:\t02\nmnt_id:\t%d\nino:\t%d\n" % (mount, inode if mount else 0)

        def mounts_of(_pid: str) -> list[Mount]:
            return mounts

        monkeypatch.setattr(openers, "read_small", on_mounts)
        monkeypatch.setattr(openers, "mounts_of", mounts_of)

        def named(device: tuple[int, int]) -> str | None:
            return openers.path_of(os.getpid(), kernel.File(device, inode), locked=False)

        assert (named((8, 1)), named((8, 2))) == (str(first), str(second))
        assert named((9, 9)) in (str(first), str(second)), "where no device is alike, the inode has to do"


def test_equal_inodes_on_two_disks_are_two_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ours:
        def has(self, pid: int) -> bool:
            return pid == 7

    def path_of(_pid: int, file: kernel.File, *, locked: bool) -> str:
        return f"/disk{file.device[1]}/{'held' if locked else 'wanted'}"

    lines = b"1: FLOCK ADVISORY WRITE 5 08:01:18 0 EOF\n1: -> FLOCK ADVISORY WRITE 7 08:01:18 0 EOF\n"
    both = lines + lines.replace(b"1:", b"2:", 1).replace(b"\n1:", b"\n2:").replace(b"08:01", b"08:02")
    monkeypatch.setattr(waits, "path_of", path_of)
    monkeypatch.setattr(kernel, "kernel_locks", lambda: kernel.parse(both))
    told = waits.Waits(cast("server.Server", Ours())).read(0.0)
    assert [each["path"] for each in told] == ["/disk1/wanted", "/disk2/wanted"]


def test_the_usual_places_lie_in_the_home_and_named_ones_win() -> None:
    usual = [place.root for place in places.existence_places({}, "/home/u")]
    assert usual == [
        "/home/u/.cache/torch_extensions",
        "/home/u/.aiter/jit/build",
        "/home/u/.cache/huggingface/hub/.locks",
    ]
    environment = {
        "XDG_CACHE_HOME": "/c/",
        "TORCH_EXTENSIONS_DIR": "not/whole",
        "HF_HOME": "/hf",
        "AITER_JIT_DIR": "/a",
    }
    named = [place.root for place in places.existence_places(environment, "/home/u")]
    assert named == ["/c/torch_extensions", "/a/build", "/hf/hub/.locks"]
    assert "/home/u/.cache/flashinfer" in places.lock_roots({}, "/home/u")
    assert "/w/.cache/flashinfer" in places.lock_roots({"FLASHINFER_WORKSPACE_BASE": "/w"}, "/home/u")


def test_a_walk_goes_no_deeper_than_locks_lie_and_follows_no_link(tmp_path: Path) -> None:
    root = tmp_path / ".cache/torch_extensions"
    deep = root / "py311/ops/src/lock"
    deep.parent.mkdir(parents=True)
    os.close(os.open(deep, os.O_CREAT))
    found = root / "py311/ops/lock"
    os.close(os.open(found, os.O_CREAT))
    (root / "linked").symlink_to(root / "py311")
    (root / "py311/lock").symlink_to(found)
    assert places.find(places.existence_places({}, str(tmp_path))) == [str(found)]


def test_a_great_cache_is_not_walked_to_its_end(tmp_path: Path) -> None:
    root = tmp_path / ".cache/torch_extensions/py311"
    for number in range(200):
        (root / f"ops{number}").mkdir(parents=True)
        os.close(os.open(root / f"ops{number}/lock", os.O_CREAT))
    assert len(places.find(places.existence_places({}, str(tmp_path)))) == 64


def test_folders_that_a_program_serves_are_left_alone() -> None:
    mountinfo = (
        b"24 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
        b"60 24 0:52 / /home/u/my\\011data rw,nosuid - fuse.sshfs host:/x rw\n"
        b"61 60 0:53 / /home/u/my\\011data/local rw - tmpfs tmpfs rw\n"
    )
    mounts = parse(mountinfo)
    assert server.in_user_space("/home/u/my\tdata/hub/.locks", mounts)
    assert not server.in_user_space("/home/u/my\tdata/local/x", mounts)
    assert not server.in_user_space("/home/u/my", mounts)


def test_a_lock_on_this_hosts_own_disk_is_seen_whole() -> None:
    assert isinstance(existence.shared(os.lstat("/").st_dev), bool)


def test_where_namespaces_or_mounts_cannot_be_read_nothing_is_seen_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> bytes:
        raise FileNotFoundError

    device = os.lstat("/").st_dev
    with monkeypatch.context() as without:
        without.setattr(existence.os, "readlink", refused)
        assert existence.shared(device)
    monkeypatch.setattr(existence, "mounts_of", refused)
    assert existence.shared(device)
