"""Which original gets which replacement: one for each, the same throughout, and none that is an original."""

from collections import Counter
from collections.abc import Collection, Iterator
from enum import StrEnum
from itertools import count


class Sort(StrEnum):
    """What an original is. The value is the beginning of most replacements."""

    HOST = "host"
    DOMAIN = "domain"
    USER = "user"
    FOLDER = "dir"
    FILE = "file"
    MODEL = "model"
    CONTAINER = "container"
    MAIL = "mail"
    IPV4 = "IPv4 address"
    IPV6 = "IPv6 address"
    MAC = "MAC address"
    GPU = "GPU"
    UUID = "UUID"


WORDS = (Sort.HOST, Sort.DOMAIN, Sort.USER, Sort.FOLDER, Sort.FILE, Sort.MODEL, Sort.CONTAINER)
"""Sorts that are replaced wherever they stand as a word of their own."""
SPELT_OTHERWISE = (Sort.IPV4, Sort.MAC, Sort.GPU, Sort.UUID)
"""Sorts whose form gives them away, but not in every spelling."""
# Networks that are kept for documentation and measurements: nobody has these addresses.
_NETWORKS = ("192.0.2", "198.51.100", "203.0.113", *(f"198.18.{third}" for third in range(256)))
_CASELESS = (Sort.HOST, Sort.DOMAIN, Sort.MAIL, Sort.IPV6, Sort.MAC, Sort.GPU, Sort.UUID)


class Names:
    """The book of originals. Learn all of them first: a replacement must not be somebody's original."""

    def __init__(self) -> None:
        self._known: dict[str, Sort] = {}
        self._folded: dict[str, Sort] = {}
        self._given: dict[str, str] = {}
        self._replacements: set[str] = set()
        self._next: dict[Sort, Iterator[int]] = {}
        self.counts: Counter[Sort] = Counter()

    def learn(self, sort: Sort, original: str) -> None:
        """Note an original; what it was taken for first counts."""
        self._known.setdefault(_key(sort, original), sort)
        self._folded.setdefault(original.casefold(), sort)

    def sort_of(self, word: str) -> Sort | None:
        """Return what a word was learnt as, in any case of its letters; None where it was not."""
        return self._known.get(word) or self._folded.get(word.casefold())

    def words(self, sorts: Collection[Sort] = WORDS) -> list[str]:
        """Return the originals of these sorts, which are replaced as words, the longest first."""
        found = [original for original, sort in self._known.items() if sort in sorts]
        return sorted(found, key=lambda original: (-len(original), original))

    def replacement(self, sort: Sort, original: str) -> str:
        """Return what stands for an original; what stands for one already stays."""
        if original in self._replacements and self.sort_of(original) is None:
            return original
        key = _key(self.sort_of(original) or sort, original)
        if key not in self._given:
            sort = self.sort_of(key) or sort
            numbers = self._next.setdefault(sort, count(1))
            texts = (_text(sort, number) for number in numbers)
            self._given[key] = next(text for text in texts if text.casefold() not in self._folded)
            self._replacements.add(self._given[key])
            self.counts[sort] += 1
        return self._given[key]


def _key(sort: Sort, original: str) -> str:
    return original.casefold() if sort in _CASELESS else original


def _text(sort: Sort, number: int) -> str:
    match sort:
        case Sort.IPV4:
            place, last = divmod(number - 1, 254)
            return f"{_NETWORKS[place % len(_NETWORKS)]}.{last + 1}"
        case Sort.IPV6:
            return f"2001:db8::{number:x}"
        case Sort.MAC:
            return "02:00:00:" + ":".join(f"{number:06x}"[place : place + 2] for place in (0, 2, 4))
        case Sort.GPU:
            return f"GPU-00000000-0000-0000-0000-{number:012x}"
        case Sort.UUID:
            return f"00000000-0000-0000-0000-{number:012x}"
        case Sort.MAIL:
            return f"mail-{number}@example.org"
        case _:
            return f"{sort.value}-{number}"
