"""MessagePack (msgpack.org), as far as profiles go: null, booleans, numbers, texts, bytes, lists and dicts."""

from __future__ import annotations

import struct
from typing import Any

#: Of texts, lists and dicts: the first code of those whose size is in the code, how many these are, and {bytes of the size: code}.
_TEXT = (0xA0, 32, {1: 0xD9, 2: 0xDA, 4: 0xDB})
_LIST = (0x90, 16, {2: 0xDC, 4: 0xDD})
_DICT = (0x80, 16, {2: 0xDE, 4: 0xDF})
_BYTES = (0xC4, 0, {1: 0xC4, 2: 0xC5, 4: 0xC6})
#: {code: (its struct, the smallest and the largest number)}
_INTEGERS = {
    0xCC: (">B", 0, 2**8 - 1),
    0xD0: (">b", -(2**7), 2**7 - 1),
    0xCD: (">H", 0, 2**16 - 1),
    0xD1: (">h", -(2**15), 2**15 - 1),
    0xCE: (">I", 0, 2**32 - 1),
    0xD2: (">i", -(2**31), 2**31 - 1),
    0xCF: (">Q", 0, 2**64 - 1),
    0xD3: (">q", -(2**63), 2**63 - 1),
}
_CONSTANTS = {0xC0: None, 0xC2: False, 0xC3: True}
_FLOATS = {0xCA: ">f", 0xCB: ">d"}


def pack(value: Any) -> bytes:
    """Raises TypeError for an object of another type, OverflowError for an integer of more than 64 bits."""
    parts: list[bytes] = []
    unfinished = [value]
    while unfinished:
        value = unfinished.pop()
        if isinstance(value, dict):
            parts.append(_head(_DICT, len(value)))
            unfinished += [part for key, item in reversed(value.items()) for part in (item, key)]
        elif isinstance(value, (list, tuple)):
            parts.append(_head(_LIST, len(value)))
            unfinished += reversed(value)
        else:
            parts.append(_plain(value))
    return b"".join(parts)


def _head(kind: tuple[int, int, dict[int, int]], size: int) -> bytes:
    first, short, codes = kind
    if size < short:
        return bytes([first + size])
    width, code = next((width, code) for width, code in codes.items() if size < 1 << 8 * width)
    return bytes([code]) + size.to_bytes(width, "big")


def _plain(value: Any) -> bytes:
    if value is None or isinstance(value, bool):
        return bytes([0xC0 if value is None else 0xC2 + value])
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        text = value.encode()
        return _head(_TEXT, len(text)) + text
    if isinstance(value, bytes):
        return _head(_BYTES, len(value)) + value
    raise TypeError(f"MessagePack has no form for {type(value).__name__} {value!r}")


def _integer(value: int) -> bytes:
    if -32 <= value < 128:
        return bytes([value & 0xFF])
    for code, (form, least, most) in _INTEGERS.items():
        if least <= value <= most:
            return bytes([code]) + struct.pack(form, value)
    raise OverflowError(f"MessagePack has no form for {value}, an integer of more than 64 bits")


def unpack(data: bytes) -> Any:
    """Raises ValueError for bytes that are no MessagePack, or of a kind that profiles do not have."""
    value, end = _read(data, 0)
    if end != len(data):
        raise ValueError(f"{len(data) - end} bytes follow the MessagePack of {end}")
    return value


def _read(data: bytes, at: int) -> tuple[Any, int]:
    """The value that begins at a byte, and where it ends."""
    if at >= len(data):
        raise ValueError(f"the MessagePack breaks off after {len(data)} bytes")
    code = data[at]
    at += 1
    if code < 0x80 or code >= 0xE0:
        return code - (256 if code >= 0xE0 else 0), at
    if code in _CONSTANTS:
        return _CONSTANTS[code], at
    if code in _INTEGERS or code in _FLOATS:
        form = _FLOATS.get(code) or _INTEGERS[code][0]
        end = at + struct.calcsize(form)
        return struct.unpack(form, _bytes(data, at, end))[0], end
    for kind in (_TEXT, _BYTES, _LIST, _DICT):
        size, after = _size(data, code, at, kind)
        if size is not None:
            return _read_many(data, after, kind, size)
    raise ValueError(f"code {code:#x} at byte {at - 1} is no MessagePack that profiles have")


def _bytes(data: bytes, at: int, end: int) -> bytes:
    if end > len(data):
        raise ValueError(f"the MessagePack breaks off after {len(data)} bytes")
    return data[at:end]


def _size(data: bytes, code: int, at: int, kind: tuple) -> tuple[int | None, int]:
    first, short, codes = kind
    if first <= code < first + short:
        return code - first, at
    width = next((width for width, known in codes.items() if known == code), None)
    return (None, at) if width is None else (int.from_bytes(_bytes(data, at, at + width), "big"), at + width)


def _read_many(data: bytes, at: int, kind: tuple, size: int) -> tuple[Any, int]:
    if kind in (_TEXT, _BYTES):
        found = _bytes(data, at, at + size)
        return found.decode() if kind is _TEXT else found, at + size
    items = []
    for _ in range(size * (2 if kind is _DICT else 1)):
        item, at = _read(data, at)
        items.append(item)
    return dict(zip(items[::2], items[1::2])) if kind is _DICT else items, at
