"""The part of pynvml that the GPU reader loads: the same code as in the whole, at a fraction of its cost."""

import importlib.util
import os
import subprocess
import sys
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import pytest

from tui.agent.gpus import bindings

_LOADED = (
    "import sys; from tui.agent.gpus import bindings as bindings; module = bindings.load();"
    "print(len(vars(module)), *('ctypes.util' in sys.modules, 'typing' in sys.modules, module.__name__))"
)


class Stub(Protocol):
    """The stand-in for NVML."""

    folder: Path

    def environment(self, **switches: Any) -> dict[str, str]: ...


def whole() -> str:
    spec = importlib.util.find_spec("pynvml")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text(encoding="utf-8")


def functions(source: str) -> dict[str, types.CodeType]:
    code = compile(source, "pynvml.py", "exec")
    return {one.co_name: one for one in code.co_consts if isinstance(one, types.CodeType)}


def carry(monkeypatch: pytest.MonkeyPatch, source: str) -> None:
    def text(_name: str) -> tuple[str, str]:
        return source, "x.py"

    monkeypatch.setattr(bindings.sources, "text", text)
    monkeypatch.delitem(sys.modules, "pynvml", raising=False)


def test_every_call_of_the_reader_is_the_code_that_pynvml_has() -> None:
    ours, theirs = functions(bindings.reduced(whole())), functions(whole())
    for name in bindings.CALLS:
        assert ours[name].co_code == theirs[name].co_code, name
        assert ours[name].co_names == theirs[name].co_names, name


def test_all_that_the_calls_name_came_along() -> None:
    ours, theirs = bindings.reduced(whole()), whole()
    defined = {name for name in vars(_module(ours)) if not name.startswith("__")}
    possible = {name for name in vars(_module(theirs)) if not name.startswith("__")}
    for name, code in functions(ours).items():
        missing = set(code.co_names) & possible - defined
        assert not missing, f"{name} needs {missing}"


def test_the_part_is_a_ninth_of_the_whole_and_keeps_its_licence() -> None:
    part = bindings.reduced(whole())
    assert len(part) < len(whole()) / 9
    assert part.startswith(whole()[:200])


def test_what_is_reduced_already_stays_as_it_is() -> None:
    part = bindings.reduced(whole())
    assert bindings.reduced(part) == part


def test_all_error_codes_have_their_exception() -> None:
    part = vars(_module(bindings.reduced(whole())))
    assert part["NVMLError"](15).value == part["NVML_ERROR_GPU_IS_LOST"] == 15
    assert type(part["NVMLError"](15)).__name__ == "NVMLError_GpuIsLost"


def test_loading_it_brings_in_nothing_heavy() -> None:
    size, *heavy, name = _run(_LOADED)
    assert heavy == ["False", "False"]
    assert int(size) < 300
    assert name == "pynvml"


def test_a_library_outside_the_loaders_search_is_found_where_some_hosts_keep_it(nvml_stub: Stub) -> None:
    script = (
        "import sys; from tui.agent.gpus import bindings as bindings;"
        "found = bindings.find_library(['/nowhere', sys.argv[1]]);"
        "module = bindings.load(); module.nvmlInitWithFlags(0);"
        "print(*found, module.nvmlSystemGetDriverVersion())"
    )
    environment = {**nvml_stub.environment(driver="999.1"), "LD_LIBRARY_PATH": ""}
    found, broken, version = _run(script, str(nvml_stub.folder), environment=environment)
    assert (found, broken) == ("True", "None")
    if version != "999.1":
        pytest.skip("this machine has an NVIDIA driver, which comes first")


def test_a_source_that_cannot_be_cut_is_loaded_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = "".join(f"{name} = len\n" for name in bindings.CALLS)
    source = "hidden = 1\nexec('seen = hid' + 'den')\n" + calls
    carry(monkeypatch, source)
    module = bindings.load()
    assert module is not None
    assert vars(module)["seen"] == 1


def test_a_source_that_does_not_even_compile_is_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    carry(monkeypatch, "def broken(:\n")
    with pytest.raises(ImportError, match=r"x\.py"):
        bindings.load()
    assert "pynvml" not in sys.modules


def _module(source: str) -> types.ModuleType:
    known = sys.modules.get("pynvml")
    module = sys.modules["pynvml"] = types.ModuleType("pynvml")
    try:
        exec(compile(source, "pynvml.py", "exec"), vars(module))
    finally:
        del sys.modules["pynvml"]
        if known is not None:
            sys.modules["pynvml"] = known
    return module


def _run(script: str, *arguments: str, environment: Mapping[str, str] | None = None) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=Path(__file__).parents[2],
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        check=True,
    )
    return done.stdout.decode().split()
