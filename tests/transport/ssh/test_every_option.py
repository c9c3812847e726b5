"""Every option of the installed ssh is classified, and every one that is kept has a test, named here."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tui.transport.ssh import options
from tui.transport.ssh.options import IGNORED, KEPT, OF_SSH_ALONE, RESOLVED, is_classified, left_to_ssh

pytestmark = pytest.mark.ssh

HERE = Path(__file__).parent
README = (HERE.parents[2] / "README.md").read_text("utf-8")
PAGE = README.partition("\n## Options of ~/.ssh/config\n")[2].partition("\n## ")[0]
# Options that ssh -G prints only where they are set.
SET = (
    "BindAddress ::1", "BindInterface lo", "CertificateFile /a", "ControlPath /a", "DynamicForward 1",
    "HostKeyAlias a", "IdentityAgent /a", "KbdInteractiveDevices a", "KnownHostsCommand /a", "LocalCommand a",
    "LocalForward 1 a:1", "PKCS11Provider /a", "PreferredAuthentications password", "RemoteCommand a",
    "RemoteForward 1 a:1", "RevokedHostKeys /a", "SetEnv A=1", "PermitLocalCommand yes", "ControlMaster auto",
    "CanonicalDomains a.test", "CanonicalizePermittedCNAMEs a:b", "Compression yes", "ControlPersist yes",
)  # fmt: skip

# By file and test: the options of KEPT that it holds to.
HELD_TO = {
    "test_add_keys.py": {
        "test_a_key_is_added_once_its_passphrase_is_known_and_then_needs_none": "addkeystoagent",
    },
    "test_asking.py": {
        "test_what_the_configuration_forbids_is_not_asked": "batchmode passwordauthentication "
        "kbdinteractiveauthentication",
        "test_the_number_of_prompts_of_the_configuration_counts": "numberofpasswordprompts",
    },
    "test_canonical.py": {
        "test_a_short_name_is_made_whole_and_its_block_and_known_hosts_name_are_those_of_the_whole": "",
    },
    "test_config.py": {
        "test_an_alias_gives_host_port_and_user": "hostname port user",
        "test_the_agent_is_the_one_that_is_named": "identityagent",
        "test_known_hosts_none_leaves_no_user_file": "userknownhostsfile",
        "test_the_users_strictness_is_honoured": "stricthostkeychecking",
    },
    "test_config_words.py": {
        "test_tokens_of_a_key_file_are_those_of_ssh": "identityfile",
    },
    "test_host_key.py": {
        "test_a_key_in_the_list_of_revoked_ones_is_refused": "revokedhostkeys",
        "test_a_hashed_name_is_written_where_the_user_wants_it": "hashknownhosts",
        "test_a_key_in_the_systems_file_is_known": "globalknownhostsfile",
        "test_a_host_key_alias_is_what_the_key_is_looked_up_by": "hostkeyalias",
    },
    "test_kept_settings.py": {
        "test_algorithms_are_those_of_the_configuration_in_its_order": "ciphers macs kexalgorithms "
        "compression",
        "test_host_key_algorithms_are_those_of_the_configuration": "hostkeyalgorithms",
        "test_keys_of_kinds_that_are_not_accepted_are_not_offered_and_named": "pubkeyacceptedalgorithms",
        "test_keys_that_are_too_short_are_neither_taken_nor_offered": "requiredrsasize",
        "test_variables_are_set_on_the_host_for_each_command": "sendenv setenv",
        "test_keys_are_agreed_on_anew_as_often_as_the_configuration_says": "rekeylimit",
        "test_a_refused_port_is_tried_as_often_as_the_configuration_says": "connectionattempts",
        "test_the_devices_of_keyboard_interactive_are_named_to_the_server": "kbdinteractivedevices",
        "test_the_fingerprint_in_the_question_is_of_the_kind_that_is_wanted": "fingerprinthash",
        "test_an_address_of_the_wrong_family_is_not_tried": "addressfamily",
        "test_ways_of_a_login_are_tried_in_the_order_of_the_configuration": "preferredauthentications",
        "test_an_address_that_does_not_answer_has_the_time_of_the_configuration": "connecttimeout",
        "test_no_key_is_offered_where_keys_are_switched_off": "pubkeyauthentication",
    },
    "test_login.py": {
        "test_only_named_keys_of_a_full_agent_are_offered_with_identities_only": "identitiesonly",
    },
    "test_master.py": {"test_it_needs_no_login_of_its_own_and_that_is_said": "controlpath"},
    "test_odd_logins.py": {"test_a_certificate_that_cannot_let_in_says_why": "certificatefile"},
    "test_proxy.py": {
        "test_a_proxy_command_is_run_by_a_shell": "proxycommand",
        "test_a_jump_host_is_gone_through": "proxyjump",
    },
    "test_takeover.py": {
        "test_a_ticket_is_left_to_ssh_where_configuration_and_server_want_one": "gssapiauthentication",
        "test_a_ticket_may_vouch_for_an_unknown_host_so_ssh_is_asked": "gssapikeyexchange",
        "test_the_key_of_this_machine_is_left_to_ssh_where_the_server_takes_it": "hostbasedauthentication",
    },
}


def printed(ssh: str, folder: Path, *lines: str) -> set[str]:
    file = folder / "config"
    file.write_text("".join(f"{line}\n" for line in lines))
    command = [ssh, "-F", file, "-T", "-G", "127.0.0.1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {line.split()[0].lower() for line in done.stdout.splitlines()}


def test_every_option_that_the_installed_ssh_prints_is_classified(
    tmp_path: Path, needs: Callable[[str], str]
) -> None:
    ssh = needs("ssh")
    names = printed(ssh, tmp_path) | printed(ssh, tmp_path, *SET)
    names |= printed(ssh, tmp_path, "ProxyCommand a") | printed(ssh, tmp_path, "ProxyJump a")
    assert len(names) > 80
    assert [name for name in sorted(names) if not is_classified(name)] == []


def test_every_option_of_the_manual_is_classified() -> None:
    """The names are those of ssh_config(5), as mandoc or groff prints them where it is installed."""
    shown = subprocess.run("man ssh_config | col -b", shell=True, capture_output=True, text=True, check=False)
    names = re.findall(r"^ {5}([A-Z][A-Za-z0-9]+)(?:  |$)", shown.stdout, re.MULTILINE)
    if len(names) < 80:
        pytest.skip("the manual of ssh_config is not installed")
    assert [name for name in names if not is_classified(name.lower())] == []


def test_no_option_is_in_two_tables() -> None:
    tables = [list(table) for table in (RESOLVED, KEPT, OF_SSH_ALONE, IGNORED)]
    names = [name for table in tables for name in table]
    assert len(names) == len(set(names))


def test_every_option_that_is_kept_has_a_test() -> None:
    held = [name for tests in HELD_TO.values() for names in tests.values() for name in names.split()]
    assert sorted(held) == sorted(KEPT)


@pytest.mark.parametrize("file", HELD_TO)
def test_those_tests_are_there(file: str) -> None:
    text = (HERE / file).read_text()
    assert [name for name in HELD_TO[file] if f"def {name}(" not in text] == []


@pytest.mark.parametrize(
    ("answer", "alone"),
    [
        ({"ciphers": ["a"], "visualhostkey": ["yes"]}, ()),
        ({"ciphers": ["b"], "visualhostkey": ["no"]}, ()),
        ({"checkhostip": ["yes"]}, ("CheckHostIP",)),
        ({"newoption": ["yes"]}, ("newoption",)),
    ],
)
def test_what_is_left_to_ssh_is_what_differs_and_nobody_else_keeps(
    answer: dict[str, list[str]], alone: tuple[str, ...]
) -> None:
    usual = {"ciphers": ["a"], "checkhostip": ["no"], "newoption": ["no"], "visualhostkey": ["yes"]}
    assert left_to_ssh({**usual, **answer}, usual) == alone


def told(mark: str) -> dict[str, str]:
    """Return the rows of one table of README.md."""
    table = PAGE.partition(f"<!-- {mark}: compared by a test -->\n")[2].partition("<!-- end -->")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", table, re.MULTILINE))


def test_the_readme_names_what_is_left_to_ssh() -> None:
    left = PAGE.partition("### Left to ssh itself")[2].partition("\n### ")[0]
    assert [name for name in options.OF_SSH_ALONE.values() if name not in left] == []
    assert [name for name in RESOLVED if f"`{name}`" not in PAGE] == []


def test_its_tables_are_those_of_the_program() -> None:
    assert told("kept") == KEPT
    assert told("without effect") == IGNORED
