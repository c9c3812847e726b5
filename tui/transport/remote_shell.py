"""One command line that every login shell reads alike: arguments quoted for bash, dash, fish and csh."""

import shlex

# Inside single quotes fish takes a backslash as an escape, csh takes an exclamation mark as its history, and
# no shell takes a single quote: these three stand outside of the quotes, each behind a backslash.
_OUTSIDE_QUOTES = "'\\!"


# csh takes words of up to 8 KiB; quoting makes a piece up to four times as long.
_PIECE = 1500
# Joins the pieces (no separator), lets printf(1) undo the octal digits, and runs what comes out.
_UNPACK = 'IFS=; line=$(printf "$*"); eval "exec $line"'


def command_line(arguments: list[str]) -> str:
    """Return the line that starts ``arguments`` through /bin/sh, whatever the login shell is.

    The line is printable ASCII without a newline: csh has no newline inside quotes, and bytes above 127 are
    not safe in it. No shell is left waiting above the command.
    """
    joined = shlex.join(arguments)
    if len(joined) <= _PIECE and all(" " <= character <= "~" for character in joined):
        return f"exec /bin/sh -c {_quoted(f'exec {joined}')}"
    packed = _octal(joined)
    pieces = [packed[start : start + _PIECE] for start in range(0, len(packed), _PIECE)]
    return " ".join(["exec /bin/sh -c", _quoted(_UNPACK), "sh", *map(_quoted, pieces)])


def _octal(text: str) -> str:
    """Write ``text`` as a format of printf(1) that holds neither a quote nor an unprintable byte."""
    return "".join(_octal_byte(byte) for byte in text.encode("utf-8", "surrogateescape"))


def _octal_byte(byte: int) -> str:
    if byte == ord("%"):
        return "%%"
    if 32 <= byte < 127 and byte not in b"\\'":
        return chr(byte)
    return f"\\{byte:03o}"


def _quoted(text: str) -> str:
    """Quote one word so that POSIX shells, fish and csh all read the same."""
    pieces: list[str] = []
    run = ""
    for character in text:
        if character not in _OUTSIDE_QUOTES:
            run += character
            continue
        pieces += [f"'{run}'"] if run else []
        pieces.append("\\" + character)
        run = ""
    if run or not pieces:
        pieces.append(f"'{run}'")
    return "".join(pieces)
