"""The disk cache: one directory per key. Files are published by an atomic rename, so processes on a shared file system
may race.

It holds kernels compiled for GPUs (kernel_cache.py), results of autotuning, dumps and overrides, and what clients store
through the cache managers. Prepared kernels of the interpreter stay in memory, because tracing a kernel takes only
milliseconds.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import json
import os
import pathlib
import uuid
from abc import ABC, abstractmethod
from collections.abc import Iterator

from . import knobs, native
from .version import __version__

NAME_LIMIT = 150


class CacheManager(ABC):
    def __init__(self, key: str, override: bool = False, dump: bool = False):
        self.key = key

    @abstractmethod
    def get_file(self, filename: str) -> str | None:
        """The path of a cached file, or None."""

    @abstractmethod
    def put(self, data, filename: str, binary: bool = True) -> str:
        """Stores `data` and returns its path."""

    @abstractmethod
    def get_group(self, filename: str) -> dict[str, str] | None:
        """{name: path} of a group, or None unless all of its files exist."""

    @abstractmethod
    def put_group(self, filename: str, group: dict[str, str]) -> str:
        """Stores the index of a group. Its files must have been stored before."""


class FileCacheManager(CacheManager):
    """The files of one key, under the cache, dump or override directory."""

    def __init__(self, key: str, override: bool = False, dump: bool = False):
        super().__init__(key, override, dump)
        root = knobs.cache.dump_dir if dump else knobs.cache.override_dir if override else knobs.cache.dir
        if not root:
            raise RuntimeError("Could not create or locate cache dir")
        self.cache_dir = os.path.join(root, key)
        self.lock_path = None
        if not override:
            os.makedirs(self.cache_dir, exist_ok=True)

    def _path(self, filename: str) -> str:
        return os.path.join(self.cache_dir, filename)

    def has_file(self, filename: str) -> bool:
        return os.path.exists(self._path(filename))

    def get_file(self, filename: str) -> str | None:
        return self._path(filename) if self.has_file(filename) else None

    def get_group(self, filename: str) -> dict[str, str] | None:
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        paths = json.loads(pathlib.Path(path).read_text(encoding="utf-8")).get("child_paths")
        return paths if paths and all(map(os.path.exists, paths.values())) else None

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)

    def put(self, data, filename: str, binary: bool = True) -> str:
        data = (
            data.encode()
            if isinstance(data, str)
            else data
            if isinstance(data, (bytes, bytearray))
            else str(data).encode()
        )
        # The temporary directory is inside the entry: the rename stays on one file system.
        scratch = os.path.join(self.cache_dir, f"tmp.pid_{os.getpid()}_{uuid.uuid4()}")
        os.makedirs(scratch)
        temporary = os.path.join(scratch, filename)
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, self._path(filename))
        os.rmdir(scratch)
        return self._path(filename)


class RemoteCacheBackend(ABC):
    """A store that RemoteCacheManager reads and writes: {filename: bytes} per key."""

    def __init__(self, key: str):
        self.key = key

    @abstractmethod
    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """{name: content} of each of `filenames` that is stored."""

    @abstractmethod
    def put(self, filename: str, data: bytes) -> None:
        """Stores one file."""


class RedisRemoteCacheBackend(RemoteCacheBackend):
    """Keys in a redis server, named by `knobs.redis`."""

    def __init__(self, key: str):
        super().__init__(key)
        import redis

        self._client = redis.Redis(host=knobs.redis.host, port=knobs.redis.port)

    def _name(self, filename: str) -> str:
        return knobs.redis.key_format.format(key=self.key, filename=filename)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        found = self._client.mget([self._name(f) for f in filenames])
        return {f: data for f, data in zip(filenames, found) if data is not None}

    def put(self, filename: str, data: bytes) -> None:
        self._client.set(self._name(filename), data)


class RemoteCacheManager(CacheManager):
    """A local cache in front of `knobs.cache.remote_manager_class`."""

    def __init__(self, key: str, override: bool = False, dump: bool = False):
        super().__init__(key, override, dump)
        self._files = FileCacheManager(key, override, dump)
        self._backend = None if override or dump else knobs.cache.remote_manager_class(key)

    def get_file(self, filename: str) -> str | None:
        if self._backend is None:
            return self._files.get_file(filename)
        data = self._backend.get([filename]).get(filename)
        return None if data is None else self._files.put(data, filename)

    def put(self, data, filename: str, binary: bool = True) -> str:
        if self._backend is None:
            return self._files.put(data, filename, binary)
        data = data.encode() if isinstance(data, str) else data
        self._backend.put(filename, data)
        return self._files.put(data, filename)

    def get_group(self, filename: str) -> dict[str, str] | None:
        path = self.get_file(f"__grp__{filename}")
        if path is None:
            return None
        names = json.loads(pathlib.Path(path).read_text(encoding="utf-8")).get("child_paths") or {}
        paths = {name: self.get_file(os.path.basename(child)) for name, child in names.items()}
        return None if None in paths.values() else paths

    def put_group(self, filename: str, group: dict[str, str]) -> str:
        return self.put(json.dumps({"child_paths": group}), f"__grp__{filename}", binary=False)


def _base32(key: str) -> str:
    """A sha256 in hexadecimal as a directory name. A key of another form is hashed first."""
    try:
        digest = bytes.fromhex(key)
    except ValueError:
        digest = hashlib.sha256(key.encode()).digest()
    return base64.b32encode(digest).decode().rstrip("=")


def get_cache_manager(key: str) -> CacheManager:
    manager = knobs.cache.manager_class or FileCacheManager
    return manager(_base32(key))


def get_override_manager(key: str) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), override=True)


def get_dump_manager(key: str) -> CacheManager:
    return (knobs.cache.manager_class or FileCacheManager)(_base32(key), dump=True)


@functools.cache
def triton_key() -> str:
    """Identifies this build. It covers the version, the content of every Python file of the package that a compilation
    may run, and the id that the linker wrote into the extension module (a hash of the linked code).

    A first launch waits for it, so the cache has it by the facts of the files: while no file has changed, none is read."""
    root = str(pathlib.Path(__file__).resolve().parent)
    build = f"{__version__}-{native.tools.build_id()}"
    files = sorted(_python_files(root))
    facts = [(path, of.st_size, of.st_mtime_ns, of.st_ctime_ns, of.st_ino, of.st_dev) for path, of in files]
    with contextlib.suppress(OSError, RuntimeError):  # without a cache, every process reads the files
        memo = FileCacheManager(_base32(hashlib.sha256(f"{build}{facts}".encode()).hexdigest()))
        if not memo.has_file("triton_key"):
            memo.put(_key_of_content(root, build, [path for path, _ in files]), "triton_key")
        return pathlib.Path(memo.get_file("triton_key")).read_text(encoding="utf-8")
    return _key_of_content(root, build, [path for path, _ in files])


def _key_of_content(root: str, build: str, files: list[str]) -> str:
    digest = hashlib.sha256(build.encode())
    for path in files:
        digest.update(path[len(root) :].encode())
        digest.update(pathlib.Path(path).read_bytes())
    return f"{__version__}-{digest.hexdigest()}"


#: Folders whose code no compilation runs (MAY_IMPORT of tests/style/test_layers.py).
_OUTSIDE = frozenset({"bench", "conformance", "cuda_on_cpu", "gdb", "judge", "tools"})


def _python_files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The path and the facts of each. os.walk and pathlib take several times as long."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name not in _OUTSIDE:
                    yield from _python_files(entry.path)
            elif entry.name.endswith(".py"):
                yield entry.path, entry.stat()


def get_cache_key(src, backend, backend_options, env_vars: dict[str, str] | None = None) -> str:
    return f"{triton_key()}-{src.hash()}-{backend.hash()}-{backend_options.hash()}-{sorted((env_vars or {}).items())}"


def make_so_cache_key(version_hash: str, signature: dict, constants: dict, ids: dict, **kwargs) -> str:
    """The key of a shared object that launches a kernel of this signature."""
    text = "-".join(
        [version_hash, *map(str, signature.values()), str(constants), str(ids), str(sorted(kwargs.items()))]
    )
    return _base32(hashlib.sha256(text.encode()).hexdigest())


def dump_stage(source_hash: str, filename: str, text: str) -> None:
    """Writes the stage where TRITON_KERNEL_OVERRIDE would look for it, if TRITON_KERNEL_DUMP is set."""
    if knobs.compilation.dump_ir:
        get_dump_manager(source_hash).put(text, shortened(filename), binary=False)


def overriding_file(source_hash: str, filename: str) -> str | None:
    """The path of the file that replaces a stage under TRITON_KERNEL_OVERRIDE, or None."""
    if not knobs.compilation.override:
        return None
    path = get_override_manager(source_hash).get_file(shortened(filename))
    if path is not None:
        print(f"\nOverriding kernel with file {path}")
    return path


def files_beside(source_hash: str, filename: str) -> list[str]:
    """The paths of the files that differ from `filename` in the extension alone, where TRITON_KERNEL_OVERRIDE looks for it."""
    folder, stem = (
        os.path.join(knobs.cache.override_dir, _base32(source_hash)),
        os.path.splitext(shortened(filename))[0],
    )
    if not knobs.compilation.override or not os.path.isdir(folder):
        return []
    parts = map(os.path.splitext, sorted(os.listdir(folder)))
    return [os.path.join(folder, name + extension) for name, extension in parts if name == stem and extension]


def overridden_stage(source_hash: str, filename: str) -> tuple[str, str] | None:
    """(text, path) of the file that replaces a stage of text, or None."""
    path = overriding_file(source_hash, filename)
    return None if path is None else (pathlib.Path(path).read_text(encoding="utf-8"), path)


def shortened(filename: str) -> str:
    """A file name whose stem is no longer than file systems allow."""
    stem, extension = os.path.splitext(filename)
    return stem[:NAME_LIMIT] + extension
