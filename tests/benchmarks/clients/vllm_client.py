"""Run ``vllm bench serve`` from a vLLM installed without torch; arguments are those of that command.

Its serve.py and its request function run as released. Stubbed are, because importing them would import torch:

- ``vllm/__init__.py`` and ``vllm/utils/__init__.py``: their folders alone are there;
- ``vllm.tokenizers``: ``get_tokenizer`` is transformers' AutoTokenizer, as for any model without its own;
- ``vllm.utils.network_utils``: ``join_host_port`` alone;
- ``vllm.inputs``, ``vllm.lora``, ``vllm.multimodal``, ``vllm.transformers_utils``, ``vllm.utils.mistral``:
  empty classes, named by data sets of images, sound and adapters, of which none is used.

So its start is quicker here than with torch; what it measures is not concerned.
"""

import importlib
import importlib.metadata
import importlib.util
import sys
import types
from pathlib import Path
from typing import Any

EMPTY = (
    "vllm.inputs",
    "vllm.lora",
    "vllm.lora.request",
    "vllm.lora.utils",
    "vllm.multimodal",
    "vllm.multimodal.audio",
    "vllm.multimodal.image",
    "vllm.multimodal.utils",
    "vllm.transformers_utils",
    "vllm.transformers_utils.repo_utils",
    "vllm.utils.mistral",
    "vllm.tokenizers",
    "vllm.utils.network_utils",
)


class Stub(types.ModuleType):
    """A module whose every name is an empty class."""

    __path__ = ()  # pyright: ignore[reportAssignmentType] - having one is what makes it a package

    def __getattr__(self, name: str) -> type:
        """Make the class that was asked for."""
        if name.startswith("__"):
            raise AttributeError(name)
        made = type(name, (), {})
        setattr(self, name, made)
        return made


def _package(name: str, folder: Path) -> types.ModuleType:
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module
    return module


def _tokenizer(name: str, **_: object) -> Any:
    return importlib.import_module("transformers").AutoTokenizer.from_pretrained(name)


def stub() -> None:
    """Put the stubs in their places."""
    # find_spec only looks: it does not run the package's own __init__.py.
    spec = importlib.util.find_spec("vllm")
    if spec is None or spec.origin is None:
        raise SystemExit("vllm is not installed here")
    folder = Path(spec.origin).parent
    for name in EMPTY:
        sys.modules[name] = Stub(name)
    vars(_package("vllm", folder))["__version__"] = importlib.metadata.version("vllm")
    _package("vllm.utils", folder / "utils")
    vars(sys.modules["vllm.tokenizers"])["get_tokenizer"] = _tokenizer
    network = vars(sys.modules["vllm.utils.network_utils"])
    network["join_host_port"] = lambda host, port: f"{host}:{port}"  # pyright: ignore[reportUnknownLambdaType]


def main() -> None:
    """Run the command."""
    stub()
    serve: Any = importlib.import_module("vllm.benchmarks.serve")
    parser: Any = importlib.import_module("vllm.utils.argparse_utils").FlexibleArgumentParser()
    serve.add_cli_args(parser)
    serve.main(parser.parse_args())


if __name__ == "__main__":
    main()
