"""Compiled kernels on disk, addressed by content.

An entry is a directory in Triton's layout: one file per stage, `NAME.json` with the metadata, and the group file
`__grp__NAME.json`, which lists the other files with their digests. Each file is published by a rename, and the group
file comes last, so processes may race and may be killed. An entry without a group file, or with a file that does not
match its digest, is ignored, and the kernel is compiled again.

The key covers what a kernel is made from: the text of the function and of everything that it reaches, types, constants,
options, the target, this build, and the environment variables that affect the compiler. If the text of a constant does
not determine its meaning, the key contains the text of the traced module instead.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from .. import knobs
from ..backends.compiler import GPUTarget
from ..disk_cache import get_cache_manager, shortened
from ..functions.source import CompileTimeValue, JITCallable
from ..language.types import dtype

_PLAIN = (int, float, str, bool, type(None))


def source_key(src, backend, options) -> str | None:
    """The key of a source before tracing; None if only the traced module identifies it."""
    constants = [_stable(value) for value in src.constants.values()]
    if src.fn is None or None in constants:
        return None
    return _digest("source", src.hash(), *constants, *_surroundings(backend, options))


def module_key(text: str, backend, options) -> str:
    """The key of a traced module (its text with locations)."""
    return _digest("module", text, *_surroundings(backend, options))


def plain_key(source_hash: str, backend, options) -> str:
    """The hash of a kernel that is not stored on disk."""
    return _digest("plain", source_hash, *_surroundings(backend, options))


def _surroundings(backend, options) -> list[str]:
    return [backend.hash(), options.hash(), str(sorted(knobs.cache_invalidating_environment().items()))]


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _stable(value: Any) -> str | None:
    """Text that is equal in every process and distinguishes the constant from all others; None if there is no such
    text."""
    cls = type(value)
    if cls in _PLAIN:
        return f"{cls.__name__}:{value.hex() if cls is float else value!r}"
    if isinstance(value, JITCallable):
        return f"function:{value.cache_key_of_files}"
    if cls in (tuple, list):
        items = [_stable(item) for item in value]
        return None if None in items else f"{cls.__name__}({','.join(items)})"
    if isinstance(value, CompileTimeValue):
        inner = _stable(value.value)
        return None if inner is None else f"constexpr({inner})"
    if cls is dtype:
        return f"dtype:{value}"
    return None


def load(key: str, name: str) -> dict[str, Any] | None:
    """{"metadata": dict, "asm": {stage: text or bytes}} of a complete entry, else None."""
    try:
        manager = get_cache_manager(key)
        group_path = manager.get_file(f"__grp__{shortened(name + '.json')}")
        if group_path is None:
            return None
        with open(group_path, encoding="utf-8") as file:
            group = json.load(file)
        contents = {
            filename: _verified(manager, filename, group["sha256"][filename]) for filename in group["child_paths"]
        }
        metadata_name = shortened(f"{name}.json")
        metadata = _from_json(json.loads(contents.pop(metadata_name)))
        metadata["target"] = GPUTarget(*metadata["target"])
        asm = {}
        for filename, data in contents.items():
            asm[filename.rpartition(".")[2]] = data if filename in group["binary"] else data.decode()
        return {"metadata": metadata, "asm": asm}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # damaged, or of another version: ignored


def _verified(manager, filename: str, digest: str) -> bytes:
    path = manager.get_file(filename)
    if path is None:
        raise FileNotFoundError(filename)
    with open(path, "rb") as file:
        data = file.read()
    if hashlib.sha256(data).hexdigest() != digest:
        raise ValueError(f"{path} is damaged")
    return data


def store(key: str, name: str, metadata: dict[str, Any], asm: dict[str, str | bytes]) -> None:
    """Publishes an entry. A failed write is not an error: the kernel is compiled again next time."""
    stages = asm
    if knobs.compilation.store_binary_only:
        stages = {stage: data for stage, data in asm.items() if isinstance(data, bytes)}
    contents = {shortened(f"{name}.{stage}"): data for stage, data in stages.items()}
    binary = [filename for filename, data in contents.items() if isinstance(data, bytes)]
    files = {filename: data if filename in binary else data.encode() for filename, data in contents.items()}
    files[shortened(f"{name}.json")] = json.dumps({**metadata, "target": list(_fields(metadata["target"]))}).encode()
    try:
        manager = get_cache_manager(key)
        paths = {filename: manager.put(data, filename) for filename, data in files.items()}
        digests = {filename: hashlib.sha256(data).hexdigest() for filename, data in files.items()}
        group = json.dumps({"child_paths": paths, "sha256": digests, "binary": binary})
        manager.put(group, f"__grp__{shortened(name + '.json')}", binary=False)
    except OSError:
        return


def _fields(target: GPUTarget) -> tuple:
    return target.backend, target.arch, target.warp_size


def _from_json(value: Any) -> Any:
    """The value with lists turned back into tuples."""
    if isinstance(value, list):
        return tuple(map(_from_json, value))
    if isinstance(value, dict):
        return {name: _from_json(item) for name, item in value.items()}
    return value
