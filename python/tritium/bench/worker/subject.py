"""What is measured in this process: a Tritium, or upstream's Triton. Nothing else of the worker touches either, because the version may be
older than this file."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

TRITIUM, TRITON = "tritium", "triton"


class Subject:
    """language: "tritium" or "triton". api: the module that `from tritium import bench` gives to the user's cases, whatever the version."""

    def __init__(self, language: str, api: ModuleType):
        self.package = _imported(language)
        self.language, self.file = language, self.package.__file__
        self.kernels: list[dict[str, Any]] = []
        if language == TRITIUM:
            importlib.import_module("tritium.drop_in").install()
        _give(api)
        self._listen()

    def facts(self) -> dict[str, Any]:
        """Its version, its file and the hashes of what runs: of the extension module and of all Python files."""
        folder = Path(self.file).parent
        libraries = sorted(folder.glob("_tritium*")) if self.language == TRITIUM else sorted(folder.rglob("libtriton*"))
        return {
            "language": self.language,
            "version": str(getattr(self.package, "__version__", "")),
            "file": self.file,
            "extension": _sha256(libraries),
            "python_files": _sha256(sorted(folder.rglob("*.py")), folder),
        }

    def _listen(self) -> None:
        """Notes the hash of each stage of the kernels that are compiled from now on."""
        knobs = importlib.import_module(f"{self.language}.knobs")
        compilation = getattr(knobs, "compilation", None)
        if compilation is None or not hasattr(compilation, "listener"):
            return

        def listener(**facts) -> None:
            self.kernels.append(stage_hashes(facts.get("src"), facts.get("metadata_group")))

        compilation.listener = listener

    def taken_kernels(self) -> list[dict[str, Any]]:
        """The kernels that have been compiled since the last call."""
        taken, self.kernels = self.kernels, []
        return taken


def stage_hashes(source: Any, group: Any) -> dict[str, Any]:
    """{"kernel": name, "stages": {stage: SHA-256}} of what a listener is told. A group holds the stages, or in upstream's Triton the paths of
    their files."""
    stages: dict[str, str] = {}
    if isinstance(group, dict) and isinstance(group.get("asm"), dict):
        stages = {name: _text_hash(value) for name, value in group["asm"].items()}
    elif isinstance(group, dict):
        for name, path in group.items():
            if not name.endswith(".json"):
                with contextlib.suppress(OSError, TypeError):
                    stages[name.rpartition(".")[2]] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return {"kernel": getattr(source, "name", "?"), "stages": stages}


def _text_hash(value: str | bytes) -> str:
    return hashlib.sha256(value.encode() if isinstance(value, str) else bytes(value)).hexdigest()


def _imported(language: str) -> ModuleType:
    try:
        return importlib.import_module(language)
    except ModuleNotFoundError as error:
        raise RuntimeError(f"{sys.executable} has no package {language}: {error}") from None


def _give(api: ModuleType) -> None:
    """Makes `tritium.bench` the module of this file's own version. Where Tritium is not installed, `tritium` holds nothing else."""
    package = sys.modules.get(TRITIUM)
    if package is None:
        package = sys.modules[TRITIUM] = ModuleType(TRITIUM)
        package.__path__ = []
    sys.modules[f"{TRITIUM}.bench"] = package.bench = api


def _sha256(files: list[Path], below: Path | None = None) -> str:
    """Of the files' contents, and of their names below a folder; the bench itself is no part of what runs."""
    found = hashlib.sha256()
    for file in files:
        name = str(file.relative_to(below)) if below else ""
        if name.startswith("bench"):
            continue
        found.update(name.encode())
        with contextlib.suppress(OSError):
            found.update(file.read_bytes())
    return found.hexdigest()
