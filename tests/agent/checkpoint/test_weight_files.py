"""Which of a directory's files are its weights, by their names."""

import pytest

from tui.agent.checkpoint.weights import chosen, kind_of, with_parts


def shards(count: int, stem: str = "model", kind: str = ".safetensors") -> list[str]:
    return [f"{stem}-{part:05}-of-{count:05}{kind}" for part in range(1, count + 1)]


REST = [
    "config.json",
    "model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer.model",
    "README.md",
    ".cache",
]


def test_all_shards_count_and_what_lies_beside_them_does_not() -> None:
    assert chosen([*REST, *shards(17)]) == (shards(17), "")


def test_of_several_kinds_the_engines_load_safetensors_alone() -> None:
    bin_files = shards(3, "pytorch_model", ".bin")
    assert chosen([*shards(2), *bin_files, "x.gguf"])[0] == shards(2)
    assert chosen([*bin_files, "training_args.bin", "consolidated.00.pt"])[0] == bin_files
    assert chosen(["consolidated.00.pt", "optimizer.pt"])[0] == ["consolidated.00.pt"]


def test_the_weights_as_first_published_count_once() -> None:
    assert chosen(["consolidated.safetensors", *shards(3)])[0] == shards(3)
    originals = shards(3, "consolidated")
    assert chosen([*originals, *shards(3)])[0] == shards(3)
    assert chosen(originals)[0] == originals


def test_weights_that_lie_whole_beside_their_parts_count_once() -> None:
    assert chosen(["model.safetensors", *shards(2)])[0] == shards(2)


def test_a_part_of_another_name_belongs_to_the_weights() -> None:
    assert chosen([*shards(2), "mtp.safetensors"])[0] == [*shards(2), "mtp.safetensors"]


def test_adapters_states_of_a_training_and_hidden_files_are_no_weights() -> None:
    beside = ["adapter_model.safetensors", "._model.safetensors", "rng_state_0.pth", "scheduler.pt"]
    assert chosen(beside) == ([], "holds no weight files")


def test_a_download_under_way_is_no_size() -> None:
    assert chosen(shards(17)[:9]) == ([], "holds 9 of 17 weight files")


def test_weights_split_in_two_ways_are_no_size() -> None:
    assert chosen([*shards(2), *shards(4)]) == ([], "holds the weights split in 2 ways")


def test_of_two_splits_the_complete_one_counts() -> None:
    assert chosen([*shards(2), *shards(4)[:3]])[0] == shards(2)


def test_one_model_of_llama_cpp_counts_and_of_several_the_name_is_needed() -> None:
    parts = shards(2, "gemma-Q4_K_M", ".gguf")
    assert chosen([*parts, "mmproj-gemma.gguf"])[0] == parts
    assert chosen(["a.gguf", "b.gguf"]) == ([], "holds 2 models (a, b)")


def test_a_file_brings_its_other_parts_along() -> None:
    parts = shards(3, "gemma", ".gguf")
    assert with_parts(parts[0], [*parts, "other.gguf"]) == (parts, "")
    assert with_parts("whole.gguf", ["whole.gguf", "other.gguf"]) == (["whole.gguf"], "")
    assert with_parts(parts[0], parts[:2]) == ([], "holds 2 of 3 weight files")


@pytest.mark.parametrize("name", ["model.safetensors.index.json", "x.safetensors.incomplete", "x", ""])
def test_other_names_are_no_weights(name: str) -> None:
    assert kind_of(name) is None
