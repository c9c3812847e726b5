"""Addresses in a text: of networks, of people, of GPUs, of containers. Replaced by ones that nobody has."""

import ipaddress
import re
from collections.abc import Callable

from tui.journal import well_known
from tui.journal.names import Sort

Named = Callable[[Sort, str], str]
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}\b")
_UUID = re.compile(
    r"(?<![0-9A-Za-z])(?:(?P<gpu>GPU|MIG)-)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![0-9A-Za-z])"
)
_MAC = re.compile(r"(?<![\w:-])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:-])")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:])")
# Behind == stands a version of four numbers.
_IPV4 = re.compile(r"(?<![\w.])(?<!==)(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)")
_IP_NAME = re.compile(r"\bip(?:-\d{1,3}){4}\b")
_CONTAINER = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]*[a-f])[0-9a-f]{64}(?![0-9A-Za-z])")
_SHORT_ID = 12


def with_addresses(text: str, name: Named) -> str:
    """Return a text with the addresses in it replaced by ``name``; those of this machine itself stay."""
    if "@" in text:
        text = _MAIL.sub(lambda found: name(Sort.MAIL, found[0]), text)
    if "-" in text:
        text = _UUID.sub(lambda found: name(Sort.GPU if found["gpu"] else Sort.UUID, found[0]), text)
        text = _IP_NAME.sub(lambda found: name(Sort.HOST, found[0]), text)
    if ":" in text:
        text = _MAC.sub(lambda found: name(Sort.MAC, found[0]), text)
        text = _IPV6.sub(lambda found: _address(found[0], Sort.IPV6, name), text)
    text = _IPV4.sub(lambda found: _address(found[0], Sort.IPV4, name), text)
    return _CONTAINER.sub(lambda found: name(Sort.CONTAINER, found[0][:_SHORT_ID]), text)


def _address(text: str, sort: Sort, name: Named) -> str:
    if text in well_known.ADDRESSES:
        return text
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    return text if address.is_loopback or address.is_unspecified else name(sort, text)
