"""Known host keys: names, hashes, markers, and how an offered key stands to them."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ssh_server import make_key, public

from tui.transport.ssh import known_hosts
from tui.transport.ssh.known_hosts import HostKeys, look_up

ED = "AAAAC3NzaC1lZDI1NTE5AAAAIIoAtCvAVZhVdUgTQZYTEdqRIgXDbgUPBhb0BvCuT9wA"
ED2 = "AAAAC3NzaC1lZDI1NTE5AAAAIIoAtCvAVZhVdUgTQZYTEdqRIgXDbgUPBhb0BvCuT9wB"
RSA = "AAAAB3NzaC1yc2EAAAADAQABAAAAAQE="


def _blob(text: str) -> bytes:
    import base64

    return base64.b64decode(text)


@pytest.fixture
def known(tmp_path: Path) -> Callable[..., HostKeys]:
    """Return a function that looks a host up in a file with the given lines."""

    def look(*lines: str, host: str = "gpu7", port: int = 22, alias: str | None = None) -> HostKeys:
        file = tmp_path / "known_hosts"
        file.write_text("".join(f"{line}\n" for line in lines))
        return look_up([file], host, port, alias)

    return look


@pytest.mark.parametrize(
    ("names", "host", "port"),
    [
        ("gpu7", "gpu7", 22),
        ("GPU7", "gpu7", 22),
        ("other,gpu7", "GPU7", 22),
        ("gpu?", "gpu7", 22),
        ("*.lab,gpu*", "gpu7", 22),
        ("[gpu7]:2222", "gpu7", 2222),
        ("[gpu*]:2222", "gpu7", 2222),
        ("[::1]:2222", "::1", 2222),
    ],
)
def test_a_name_is_found(known: Callable[..., HostKeys], names: str, host: str, port: int) -> None:
    assert (
        known(f"{names} ssh-ed25519 {ED}", host=host, port=port).judge("ssh-ed25519", _blob(ED)).standing
        == "known"
    )


@pytest.mark.parametrize(
    ("names", "port"),
    [
        ("gpu", 22),
        ("gpu77", 22),
        ("gpu*,!gpu7", 22),
        ("[gpu7]:2222", 22),
        ("[gpu7]:22", 2222),
        ("[u]pu7", 22),
    ],
)
def test_another_name_is_not(known: Callable[..., HostKeys], names: str, port: int) -> None:
    judged = known(f"{names} ssh-ed25519 {ED}", port=port).judge("ssh-ed25519", _blob(ED))
    assert judged.standing == "unknown"


def test_a_changed_key_names_file_and_line(known: Callable[..., HostKeys]) -> None:
    keys = known("# a comment", "", "nonsense", f"gpu7 ssh-ed25519 {ED} ann@home")
    judged = keys.judge("ssh-ed25519", _blob(ED2))
    assert judged.standing == "changed"
    assert judged.by is not None
    assert judged.by.place.endswith("known_hosts:4")


def test_one_of_several_known_keys_is_enough(known: Callable[..., HostKeys]) -> None:
    keys = known(f"gpu7 ssh-ed25519 {ED2}", f"gpu7 ssh-ed25519 {ED}")
    assert keys.judge("ssh-ed25519", _blob(ED)).standing == "known"


def test_a_key_of_another_type_is_told_apart(known: Callable[..., HostKeys]) -> None:
    keys = known(f"gpu7 ssh-rsa {RSA}")
    assert keys.judge("ssh-ed25519", _blob(ED)).standing == "other_type"
    assert keys.algorithms() == ["ssh-rsa"]


def test_a_revoked_key_is_revoked_though_it_is_known_too(known: Callable[..., HostKeys]) -> None:
    keys = known(f"gpu7 ssh-ed25519 {ED}", f"@revoked * ssh-ed25519 {ED}")
    assert keys.judge("ssh-ed25519", _blob(ED)).standing == "revoked"


def test_an_authority_is_no_host_key(known: Callable[..., HostKeys]) -> None:
    keys = known(f"@cert-authority *.lab,gpu7 ssh-ed25519 {ED}")
    assert keys.judge("ssh-ed25519", _blob(ED)).standing == "unknown"
    assert [key.blob for key in keys.marked("@cert-authority")] == [_blob(ED)]


def test_a_key_known_without_port_counts_but_another_one_there_is_no_change(
    known: Callable[..., HostKeys],
) -> None:
    keys = known(f"gpu7 ssh-ed25519 {ED}", port=2222)
    assert keys.judge("ssh-ed25519", _blob(ED)).standing == "known"
    assert keys.judge("ssh-ed25519", _blob(ED2)).standing == "unknown"


def test_an_alias_stands_for_name_and_port(known: Callable[..., HostKeys]) -> None:
    keys = known(f"cluster ssh-ed25519 {ED}", port=2222, alias="cluster")
    assert keys.judge("ssh-ed25519", _blob(ED)).standing == "known"


def test_broken_lines_are_passed_over(known: Callable[..., HostKeys]) -> None:
    lines = [
        "gpu7 ssh-ed25519",
        "gpu7 ssh-ed25519 !!!",
        "gpu7 ssh-ed25519 AAAA",
        "|1|x|y gpu7",
        "|1| z AAAA",
        "\xff\x00",
    ]
    assert known(*lines, f"gpu7 ssh-ed25519 {ED}").judge("ssh-ed25519", _blob(ED)).standing == "known"


def test_missing_and_unreadable_files_say_nothing(tmp_path: Path) -> None:
    keys = look_up([tmp_path / "none", tmp_path], "gpu7", 22, None)
    assert keys.keys == ()
    assert keys.unreadable == (tmp_path,)


def test_openssh_reads_what_is_added_and_the_other_way_round(
    tmp_path: Path, needs: Callable[[str], str]
) -> None:
    keygen = needs("ssh-keygen")
    key = make_key(tmp_path / "key")
    algorithm, text = public(key).split()
    file = tmp_path / "new" / "known_hosts"
    known_hosts.append(file, "[gpu7]:2222", algorithm, _blob(text), hashed=False)
    file.write_text(file.read_text().rstrip("\n"))
    known_hosts.append(file, "gpu8", algorithm, _blob(text), hashed=True)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700
    for name in ("[gpu7]:2222", "gpu8"):
        subprocess.run([keygen, "-F", name, "-f", file], check=True, capture_output=True)
    subprocess.run([keygen, "-H", "-f", file], check=True, capture_output=True)
    assert "gpu" not in file.read_text()
    assert look_up([file], "gpu7", 2222, None).judge(algorithm, _blob(text)).standing == "known"


def test_the_fingerprint_is_the_one_that_ssh_keygen_prints(
    tmp_path: Path, needs: Callable[[str], str]
) -> None:
    key = make_key(tmp_path / "key")
    printed = subprocess.run(
        [needs("ssh-keygen"), "-lf", key], check=True, capture_output=True, text=True
    ).stdout
    assert known_hosts.fingerprint(_blob(public(key).split()[1])) in printed
