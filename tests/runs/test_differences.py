"""What makes a configuration, and in what two of them differ."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui.benchmark import Difference
from tui.runs.configuration import digest, meaning_of
from tui.runs.differences import differences
from tui.runs.entry import Fingerprint, Setting, value_words
from tui.runs.variables import Known

BASE = {"engine": "SGLang", "command": "sglang.launch_server", "argument --tp": "2", "nccl": "2.28.9"}


def fingerprint(named: Mapping[str, str | None] = {}, known: Known = "whole") -> Fingerprint:
    """Return a fingerprint of BASE with settings added, changed or (None) taken away; "?" is not known."""
    merged = {**BASE, **named}
    settings = tuple(
        Setting(name=name, value=None if value == "?" else value, known=value != "?")
        for name, value in sorted(merged.items())
        if value is not None
    )
    return Fingerprint(digest=digest(settings, known), settings=settings, environment_known=known)


def between(a: dict[str, str | None], b: dict[str, str | None], known: Known = "whole") -> list[Difference]:
    return list(differences(fingerprint(a, known), fingerprint(b, known)))


def test_equal_ones_differ_in_nothing() -> None:
    assert between({}, {}) == []
    assert fingerprint().digest == fingerprint().digest


def test_an_environment_variable_that_is_set_on_one_side_alone_is_unset_on_the_other() -> None:
    assert between({"environment NCCL_ALGO": "Tree"}, {}) == [
        Difference(name="environment NCCL_ALGO", a="Tree", b=None)
    ]


@pytest.mark.parametrize("known", ["partly", "unknown"])
def test_where_an_environment_is_not_known_whole_a_missing_variable_is_not_known(known: Known) -> None:
    assert between({"environment NCCL_ALGO": "Tree"}, {}, known) == [
        Difference(name="environment NCCL_ALGO", a="Tree", b=None, b_known=False)
    ]


def test_an_argument_that_is_missing_was_not_given() -> None:
    assert between({}, {"argument --context-length": "4096"}) == [
        Difference(name="argument --context-length", a=None, b="4096")
    ]


@pytest.mark.parametrize("change", [{"command": "?"}, {"command": None}, {"argument --config": "x.yaml"}])
def test_without_all_arguments_a_missing_one_is_not_known(change: dict[str, str | None]) -> None:
    found = between({"argument --context-length": "4096"}, change)
    assert Difference(name="argument --context-length", a="4096", b=None, b_known=False) in found


def test_what_one_side_does_not_know_is_a_difference_and_what_neither_knows_is_none() -> None:
    assert between({"driver": "580"}, {"driver": "?"}) == [
        Difference(name="driver", a="580", b=None, b_known=False)
    ]
    assert between({"driver": "?"}, {"driver": "?"}) == []
    assert between({"driver": "?"}, {}) == []


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"argument --tp": "2"}, {"argument --tp": None, "argument --tensor-parallel-size": "2"}),
        ({"argument --mem-fraction-static": "0.90"}, {"argument --mem-fraction-static": "0.9"}),
        ({"argument --x": '{"a": 1, "b": 2}'}, {"argument --x": '{"b":2,"a":1}'}),
    ],
)
def test_arguments_are_compared_by_what_they_mean(a: dict[str, str | None], b: dict[str, str | None]) -> None:
    assert between(a, b) == []


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("argument --port", "30000", "30001"),
        ("argument --host", "0.0.0.0", "127.0.0.1"),
        ("argument --log-file", "/a", "/b"),
        ("argument --dist-init-addr", "h:1", "h:2"),
        ("argument --api-key", "***", None),
        ("environment HF_TOKEN", None, "***"),
        ("environment SGLANG_RUN_ID", "1", "2"),
        ("environment NCCL_DEBUG_FILE", "/x/1", "/x/2"),
        ("environment TORCHINDUCTOR_CACHE_DIR", "/tmp/tmpab12cd34/x", "/tmp/tmpzz99_x0q/x"),
        ("environment TRITON_CACHE_DIR", "/dev/shm/t-4711/c", "/dev/shm/t-815/c"),
    ],
)
def test_what_each_start_has_anew_makes_no_other_configuration(
    name: str, one: str | None, other: str | None
) -> None:
    a, b = fingerprint({name: one}), fingerprint({name: other})
    assert a.digest == b.digest
    assert differences(a, b) == ()


@pytest.mark.parametrize(
    ("name", "one", "other"),
    [
        ("argument --tp", "2", "4"),
        ("environment NCCL_ALGO", "Tree", "Ring"),
        ("environment NCCL_ALGO", "Tree", None),
        ("environment TORCHINDUCTOR_CACHE_DIR", "/tmp/one", "/tmp/two"),
        ("nccl", "2.28.9", "2.27.5"),
        ("nccl", "2.28.9", "?"),
        ("host", "gpu01", "gpu02"),
        ("model bytes", "253113024", "253113025"),
        ("topology", "all NV18", "all SYS"),
    ],
)
def test_what_is_set_on_purpose_makes_another_configuration(
    name: str, one: str | None, other: str | None
) -> None:
    a, b = fingerprint({name: one}), fingerprint({name: other})
    assert a.digest != b.digest
    assert [each.name for each in differences(a, b)] == [name]


def test_an_environment_that_is_known_less_is_another_configuration() -> None:
    assert fingerprint(known="whole").digest != fingerprint(known="partly").digest


def test_what_is_changed_most_often_comes_first_and_the_host_last() -> None:
    names = [
        "engine version", "argument --context-length", "environment NCCL_ALGO", "environment NCCL_B", "nccl",
        "model", "gpus", "gpu name", "power limit W", "driver", "library torch", "something new",
        "kernel", "host",
    ]  # fmt: skip
    found = between({name: "1" for name in reversed(names)}, {name: "2" for name in names})
    assert [each.name for each in found] == names


def test_a_library_that_only_one_has_loaded_is_not_loaded_by_the_other() -> None:
    found = between({"library torch": "2", "library jemalloc": "5.3"}, {"library torch": "2"})
    assert found == [Difference(name="library jemalloc", a="5.3", b=None)]
    assert between({"library torch": "2"}, {}) == [
        Difference(name="library torch", a="2", b=None, b_known=False)
    ]


def test_a_fingerprint_of_which_nothing_is_known_differs_in_all_that_the_other_knows() -> None:
    nothing = Fingerprint(digest="")
    found = differences(fingerprint(), nothing)
    assert [each.name for each in found] == ["engine", "command", "argument --tp", "nccl"]
    assert not any(each.b_known for each in found)
    assert differences(nothing, nothing) == ()


NAMES = st.sampled_from(
    ["argument --tp", "argument --port", "environment NCCL_ALGO", "nccl", "driver", "host"]
)
SIDES = st.dictionaries(NAMES, st.sampled_from(["1", "2", "?", "1.0", None]))


@given(SIDES, SIDES)
def test_no_difference_is_what_one_digest_means(a: dict[str, str | None], b: dict[str, str | None]) -> None:
    """Where one digest is, no difference is; a missing setting and an unknown one make two digests."""
    one, other = fingerprint(a), fingerprint(b)
    found = differences(one, other)
    if one.digest == other.digest:
        assert found == ()
    mirrored = differences(other, one)
    assert [(each.name, each.a, each.b) for each in found] == [
        (each.name, each.b, each.a) for each in mirrored
    ]


@given(st.text(max_size=40))
def test_a_value_means_itself_however_often_it_is_asked(value: str) -> None:
    once = meaning_of(value)
    assert once is not None
    assert meaning_of(once) == once


@pytest.mark.parametrize(
    ("name", "value", "known", "words"),
    [
        ("environment NCCL_ALGO", "Ring", True, "Ring"),
        ("environment NCCL_ALGO", None, True, "unset"),
        ("environment NCCL_ALGO", None, False, "unknown"),
        ("environment CUDA_VISIBLE_DEVICES", "", True, '""'),
        ("argument --enable-metrics", "", True, "given"),
    ],
)
def test_an_unknown_an_unset_an_empty_setting_and_a_switch_have_words_of_their_own(
    name: str, value: str | None, known: bool, words: str
) -> None:
    assert value_words(value, known=known, name=name) == words
