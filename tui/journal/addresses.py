"""Addresses in a text: of networks, of people, of GPUs, of containers. Replaced by ones that nobody has."""

import ipaddress
import re
from collections.abc import Callable

from tui.journal import well_known
from tui.journal.names import Sort
from tui.journal.spelling import plain_address, plain_mac, plain_uuid

Named = Callable[[Sort, str], str]
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)+[A-Za-z]{2,}\b")
_UUID = re.compile(
    r"(?<![0-9A-Za-z])(?:(?P<label>GPU|MIG)-(?P<bare>[0-9a-fA-F]{32})|(?:(?P<gpu>GPU|MIG)-)?"
    r"(?P<dashed>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}))(?![0-9A-Za-z])"
)
_MAC = re.compile(
    r"(?<![\w:-])(?:[0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}(?![\w:-])"
    r"|(?<![\w:-])(?:[0-9A-Fa-f]{2}-){5}[0-9A-Fa-f]{2}(?![\w:-])"
    r"|(?<![\w.])(?:[0-9A-Fa-f]{4}\.){2}[0-9A-Fa-f]{4}(?!\.?\w)"
)
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}[0-9A-Fa-f]{0,4}(?![\w:]|\.\d)")
# Behind == stands a version of four numbers.
_IPV4 = re.compile(r"(?<![\w.])(?<!==)(?:\d{1,3}\.){3}\d{1,3}(?!\.?\w)")
_IP_NAME = re.compile(
    r"\b(?:ip|ec2|host|node|vm|pod|worker|head|instance|compute|server)(?:-\d{1,3}){4}\b(?!-\d)"
)
_CONTAINER = re.compile(r"(?<![0-9A-Za-z])(?=[0-9a-f]*[a-f])[0-9a-f]{64}(?![0-9A-Za-z])")
_SHORT_ID = 12


def with_addresses(text: str, name: Named) -> str:
    """Return a text with the addresses in it replaced by ``name``; those of this machine itself stay.

    ``name`` is given each in its usual spelling, so that one address gets one replacement.
    """
    if "@" in text:
        text = _MAIL.sub(lambda found: name(Sort.MAIL, found[0]), text)
    if "-" in text:
        text = _UUID.sub(lambda found: _uuid(found, name), text)
        text = _IP_NAME.sub(lambda found: name(Sort.HOST, found[0]), text)
    if ":" in text or "-" in text or "." in text:
        text = _MAC.sub(lambda found: _mac(found[0], name), text)
    if ":" in text:
        text = _IPV6.sub(lambda found: _address(found[0], Sort.IPV6, name), text)
    text = _IPV4.sub(lambda found: _address(found[0], Sort.IPV4, name), text)
    return _CONTAINER.sub(lambda found: name(Sort.CONTAINER, found[0][:_SHORT_ID]), text)


def _uuid(found: "re.Match[str]", name: Named) -> str:
    digits = plain_uuid(found["bare"] or found["dashed"])
    label = found["label"] or found["gpu"]
    return name(Sort.GPU, f"{label}-{digits}") if label else name(Sort.UUID, digits)


def _mac(text: str, name: Named) -> str:
    # Numbers of four digits with dots between are more often versions and sizes than addresses.
    return text if "." in text and text.replace(".", "").isdigit() else name(Sort.MAC, plain_mac(text))


def _address(text: str, sort: Sort, name: Named) -> str:
    plain = plain_address(text)
    if plain is None or text in well_known.ADDRESSES:
        return text
    address = ipaddress.ip_address(plain)
    return text if address.is_loopback or address.is_unspecified else name(sort, plain)
