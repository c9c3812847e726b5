"""Names are replaced each by one other, everywhere, and what says nothing of anybody stays."""

import pytest
from awkward_recordings import at
from hypothesis import given
from hypothesis import strategies as st

from tui.events import Hello, Log, Notice
from tui.journal.anonymise import Anonymiser
from tui.journal.names import Names, Sort
from tui.journal.rewrite import rewritten


def notice(sentence: str) -> Notice:
    return Notice(**at(0.0), level="info", about="host", sentence=sentence)


def changed(*texts: str, ordinary: tuple[str, ...] = ()) -> list[str]:
    """Return texts as one anonymiser leaves them that has learnt all of them."""
    anonymiser = Anonymiser(ordinary)
    for text in texts:
        anonymiser.learn(notice(text))
    return [anonymiser.anonymised(notice(text)).sentence for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from 10.1.2.3:80", "from 192.0.2.1:80"),
        ("at fe80::12 now", "at 2001:db8::1 now"),
        ("mac aa:bb:cc:00:11:22", "mac 02:00:00:00:00:01"),
        ("to jane@acme.com.", "to mail-1@example.org."),
        ("GPU-11111111-2222-3333-4444-555555555555", "GPU-00000000-0000-0000-0000-000000000001"),
        ("http://node9:8000/v1/models", "http://host-1:8000/v1/models"),
        ("http://node9.acme.com/health", "http://host-1.domain-1/health"),
        ("/data/acme/zed-7b", "/data/dir-1/dir-2"),
        ("/data/acme/zed.gguf", "/data/dir-1/file-1.gguf"),
        ("model_path='acme/zed-7b'", "model_path='dir-1/model-1'"),
        ("/home/alice/x1", "/home/user-1/dir-1"),
        ("~alice/x1", "~user-1/dir-1"),
        ("nvcc -I/home/alice/inc", "nvcc -I/home/user-1/dir-1"),
        ("PATH=/home/alice/q:/home/alice/r", "PATH=/home/user-1/dir-1:/home/user-1/dir-2"),
        ("file:///data/acme", "file:///data/dir-1"),
        ("https://huggingface.co/acme/zed", "https://huggingface.co/dir-1/model-1"),
        ("host ip-10-1-2-3", "host host-1"),
    ],
)
def test_what_tells_of_somebody_is_replaced(text: str, expected: str) -> None:
    assert changed(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1:30000 and 0.0.0.0 and ::1 and 127.0.1.1",
        "http://localhost:8000/v1/models",
        '"GET /v1/models HTTP/1.1" 200 OK',
        "/usr/bin/python3 /dev/nvidia0 /proc/123/fd/1 /usr/lib/python3.12/multiprocessing/process.py",
        "site-packages/sglang/srt/model_executor/model_runner.py",
        "c10::Error std::string at 10:00:00, 12 tokens/s, 3/17, and/or",
        "nvidia-cublas==12.8.4.1 torch.distributed.launch vllm.engine",
        "https://docs.vllm.ai/en/latest/x.html https://github.com/vllm-project/vllm/issues/1",
        "NVIDIA H200 0000:18:00.0 TP0 pid=4711 mlx5_0 eth0",
        "[2026-11-29 10:00:04 TP0] Load weight begin. avail mem=138.31 GB",
        "/tmp",
        "",
    ],
)
def test_what_tells_of_nobody_stays(text: str) -> None:
    assert changed(text) == [text]


def test_in_a_package_the_place_of_a_failure_stays_and_the_way_to_it_does_not() -> None:
    text = 'File "/home/alice/proj9/venv/lib/python3.12/site-packages/sglang/srt/x.py", line 3, in f'
    assert changed(text) == [
        'File "/home/user-1/dir-1/venv/lib/python3.12/site-packages/sglang/srt/x.py", line 3, in f'
    ]


def test_a_name_is_replaced_also_where_it_stood_before_it_was_told() -> None:
    assert changed("node9 is up", "see http://node9/") == ["host-1 is up", "see http://host-1/"]


def test_names_in_other_letters_are_found_and_different_paths_stay_different() -> None:
    first, second = changed("/data/Zed-7b and zed-7b", "/data/acme")
    assert first == "/data/dir-1 and dir-2"
    assert second == "/data/dir-3"


def test_a_host_is_the_same_in_any_letters() -> None:
    assert changed("http://NODE9/ node9") == ["http://host-1/ host-1"]


def test_a_word_of_the_log_is_replaced_only_where_its_place_makes_it_a_name() -> None:
    text = "capture begins in /home/capture/capture"
    assert changed(text, ordinary=("capture",)) == ["capture begins in /home/user-1/user-1"]


def test_a_replacement_is_nobodys_original() -> None:
    assert changed("/data/acme and /data/dir-1") == ["/data/dir-2 and /data/dir-3"]


def test_fields_that_say_what_they_are_need_no_sign() -> None:
    hello = Hello(
        **at(0.0),
        protocol=1,
        host="n9",
        user="al",
        uid=1,
        pid=1,
        boot_id="77777777-1111-2222-3333-444444444444",
        python="3",
        kernel="6",
        cpu_count=1,
        memory_total_mib=None,
    )
    anonymiser = Anonymiser()
    anonymiser.learn(hello)
    after = anonymiser.anonymised(hello)
    assert (after.host, after.user) == ("host-1", "user-1")
    assert after.boot_id == "00000000-0000-0000-0000-000000000001"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("docker:acme-llm on box9", "docker:container-1 on host-1"),
        ("kubectl:acme/llm-0/web", "kubectl:container-1/container-2/container-3"),
        ("srun:42/n17 on jane@login9", "srun:42/container-1 on user-1@host-1"),
    ],
)
def test_a_container_a_pod_and_a_job_on_a_host_are_replaced_name_by_name(place: str, expected: str) -> None:
    anonymiser = Anonymiser()
    hello = Hello(
        **at(0.0), protocol=1, host="local", user="root", uid=0, pid=1, boot_id="", python="3", kernel="6",
        cpu_count=1, memory_total_mib=None, place=place,
    )  # fmt: skip
    anonymiser.learn(hello)
    anonymiser.learn(notice(f"connected to {place}"))

    assert anonymiser.anonymised(hello).place == expected
    assert anonymiser.anonymised(notice(f"connected to {place}")).sentence == f"connected to {expected}"


def test_root_and_this_machine_are_nobody() -> None:
    texts = Anonymiser()
    assert texts.text("user", "root") == "root"
    assert texts.text("host", "local") == "local"


def test_a_log_keeps_its_lines() -> None:
    log = Log(
        **at(0.0),
        lines=["", "a /data/acme", "", "b"],
        tail="",
        returns=[],
        path="/x9",
        device=1,
        inode=1,
        offset=1,
    )
    anonymiser = Anonymiser()
    anonymiser.learn(log)
    after = anonymiser.anonymised(log)
    assert after.lines == ["", "a /data/dir-1", "", "b"]
    assert after.path == "/dir-2"


def test_counts_are_of_different_originals() -> None:
    anonymiser = Anonymiser()
    for text in ("10.0.0.1 10.0.0.2 10.0.0.1", "http://node9/"):
        anonymiser.learn(notice(text))
        anonymiser.anonymised(notice(text))
    assert dict(anonymiser.names.counts) == {Sort.IPV4: 2, Sort.HOST: 1}


@given(st.lists(st.tuples(st.sampled_from(list(Sort)), st.text(min_size=1, max_size=8)), max_size=40))
def test_different_originals_have_different_replacements(pairs: list[tuple[Sort, str]]) -> None:
    names = Names()
    for sort, original in pairs:
        names.learn(sort, original)
    found = {original: names.replacement(sort, original) for sort, original in pairs}
    by_replacement: dict[str, set[str]] = {}
    for original, replacement in found.items():
        by_replacement.setdefault(replacement, set()).add(original.casefold())
    assert all(len(originals) == 1 for originals in by_replacement.values())
    folded = {original.casefold() for original in found}
    assert not folded & {replacement.casefold() for replacement in by_replacement}


@given(st.text(max_size=200))
def test_any_text_can_be_anonymised(text: str) -> None:
    assert len(changed(text)) == 1


def test_words_of_a_protocol_are_no_texts() -> None:
    class Shout:
        def text(self, field: str, value: str) -> str:
            return value.upper()

        def texts(self, field: str, values: list[str]) -> list[str]:
            return [value.upper() for value in values]

        def pairs(self, field: str, values: dict[str, str]) -> dict[str, str]:
            return values

    after = rewritten(notice("hello"), Shout())
    assert (after.level, after.sentence) == ("info", "HELLO")


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("connected to vm", "connected to host-1"),
        ("vm is back; vm: link lost", "host-1 is back; host-1: link lost"),
        ("the vms of vm-2 and a.vm stay", "the vms of vm-2 and a.vm stay"),
    ],
)
def test_a_host_of_two_letters_is_replaced_in_the_sentences_about_it(sentence: str, expected: str) -> None:
    anonymiser = Anonymiser()
    hello = Hello(
        **at(0.0), protocol=1, host="vm", user="root", uid=0, pid=1, boot_id="", python="", kernel="",
        cpu_count=None, memory_total_mib=None,
    )  # fmt: skip
    anonymiser.learn(hello)
    assert anonymiser.anonymised(notice(sentence)).sentence == expected


def test_a_host_that_is_a_short_word_leaves_sentences_readable() -> None:
    anonymiser = Anonymiser()
    hello = Hello(
        **at(0.0), protocol=1, host="is", user="root", uid=0, pid=1, boot_id="", python="", kernel="",
        cpu_count=None, memory_total_mib=None,
    )  # fmt: skip
    anonymiser.learn(hello)
    assert anonymiser.anonymised(notice("the link is up")).sentence == "the link is up"
