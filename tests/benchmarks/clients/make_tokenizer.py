"""Write a tokenizer of one token a word into a folder, for clients that cannot do without one.

    python make_tokenizer.py FOLDER

Run by the client's own Python, for its packages tokenizers and transformers.
"""

import json
import sys
from pathlib import Path
from typing import Any

WORDS = 2000
SETTINGS = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "unk_token": "<unk>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "model_max_length": 1000000,
    "chat_template": "{% for message in messages %}{{ message['content'] }}{% endfor %}",
}


def main(folder: Path) -> None:
    """Write it."""
    import tokenizers  # pyright: ignore[reportMissingImports]

    library: Any = tokenizers
    words = ["<unk>", "<s>", "</s>", "word", *(f"word{number}" for number in range(WORDS))]
    vocabulary = {word: number for number, word in enumerate(words)}
    made: Any = library.Tokenizer(library.models.WordLevel(vocabulary, unk_token="<unk>"))
    made.pre_tokenizer = library.pre_tokenizers.WhitespaceSplit()
    made.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(SETTINGS))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
