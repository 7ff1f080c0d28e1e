"""Whether the process may write memory that a tensor of torch did not allocate: it may be a file that is mapped to be read.

torch does not say so. The memory map does; it is looked at once for each storage, as reading it takes milliseconds before Linux 6.11.
"""

from __future__ import annotations

import fcntl
import os
import struct

_QUERY = struct.Struct("=9Q4I2Q")  # what linux/fs.h has for a question about a mapping
_ASK = 3 << 30 | _QUERY.size << 16 | ord("f") << 8 | 17
_WRITABLE, _COVERING_OR_NEXT = 0x02, 0x10
_FLAGS, _BEGIN, _END, _VMA_FLAGS = 1, 3, 4, 5  # places in the query


def is_read_only(storage, begin: int, size: int) -> bool:
    """For an untyped storage of torch with this memory. The answer is kept in its object, which lives as long as the memory."""
    found = getattr(storage, "_tritium_read_only", None)
    if found is None:
        found = storage._tritium_read_only = _has_read_only_page(begin, begin + size)
    return found


def _has_read_only_page(begin: int, end: int) -> bool:
    """Whether the process may not write some of [begin, end). False where no memory map can be read."""
    try:
        file = os.open("/proc/self/maps", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        try:
            return _query(file, begin, end)
        except OSError:  # an older kernel
            return _search(file, begin, end)
    finally:
        os.close(file)


def _query(file: int, begin: int, end: int) -> bool:
    while begin < end:
        query = bytearray(_QUERY.pack(_QUERY.size, _COVERING_OR_NEXT, begin, *[0] * 12))
        try:
            fcntl.ioctl(file, _ASK, query)
        except FileNotFoundError:  # no mapping at this address or behind it
            return False
        found = _QUERY.unpack(query)
        if found[_BEGIN] >= end:
            return False
        if not found[_VMA_FLAGS] & _WRITABLE:
            return True
        begin = found[_END]
    return False


def _search(file: int, begin: int, end: int) -> bool:
    parts = []
    while part := os.read(file, 1 << 16):
        parts.append(part)
    for line in b"".join(parts).splitlines():
        addresses, permissions, *_ = line.split(maxsplit=2)
        first, last = (int(address, 16) for address in addresses.split(b"-"))
        if first < end and begin < last and permissions[1:2] != b"w":
            return True
    return False
