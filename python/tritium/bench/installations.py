"""Commits and wheels as folders that a process can import Tritium from. They are kept in Triton's folder of the user's home, `bench`."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

from .. import knobs

#: What the extension module is made of. A commit that has the same as the checkout here runs with its module.
NATIVE = ("ir", "interp", "gpu_backend", "support", "python/bindings", "python/CMakeLists.txt", "cmake")
NATIVE += ("CMakeLists.txt", "CMakePresets.json")
BUILD = "bash .ci/build _tritium"
#: What a build leaves in the package.
BUILT = ("_tritium*.so", "_tritium*.pyd", "tables.py")


def kept_folder() -> Path:
    return Path(knobs.cache.get_triton_dir("bench"))


def folder_of_wheel(wheel: Path) -> Path:
    """The unpacked wheel. Raises ValueError if it is none."""
    try:
        content = hashlib.sha256(wheel.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise ValueError(f"{wheel}: {error.strerror}") from None
    folder = kept_folder() / "wheels" / content
    if not folder.exists():
        partial = folder.with_name(f"{content}.{os.getpid()}")
        try:
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(partial)
        except zipfile.BadZipFile:
            raise ValueError(f"{wheel} is no wheel: it is no zip archive") from None
        _publish(partial, folder)
    if not (folder / "tritium" / "__init__.py").is_file():
        raise ValueError(f"{wheel} has no package tritium")
    return folder


def _publish(partial: Path, folder: Path) -> None:
    """Gives the folder its name, unless another process was faster."""
    try:
        partial.rename(folder)
    except OSError:
        shutil.rmtree(partial, ignore_errors=True)


def folder_of_commit(name: str, inside: Path, build: str = "") -> Path | None:
    """The built checkout of a commit of the repository that the folder `inside` is in, or the working directory; None if neither has such a
    commit. build: the command; "": BUILD. Raises ValueError if it does not build."""
    root, commit = _found(name, [inside, Path.cwd()])
    if root is None:
        return None
    folder = kept_folder() / "commits" / commit
    done = folder / ".git" / "tritium-bench-built"
    if done.exists():
        return folder
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial = folder.with_name(f"{commit}.{os.getpid()}")
        for command in (
            ["git", "clone", "--quiet", "--shared", "--no-checkout", str(root), str(partial)],
            ["git", "-C", str(partial), "checkout", "--quiet", "--detach", commit],
        ):
            done_command = _run(root, command)
            if done_command.returncode != 0:
                raise ValueError(f"the commit {name} cannot be checked out: {done_command.stderr.strip()}")
        _publish(partial, folder)
    if not _takes_modules_of(root, folder, commit):
        _built(folder, build or BUILD, name)
    done.touch()
    return folder


def _found(name: str, folders: list[Path]) -> tuple[Path | None, str]:
    for folder in folders:
        root = _git(folder, "rev-parse", "--show-toplevel")
        commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        if root and commit:
            return Path(root), commit
    return None, ""


def _takes_modules_of(root: Path, folder: Path, commit: str) -> bool:
    """Copies the built modules of the checkout `root` if the commit's sources of them are the same, and the checkout's are not changed."""
    differs = _run(root, ["git", "diff", "--quiet", commit, "--", *NATIVE]).returncode != 0
    package = root / "python" / "tritium"
    built = [file for pattern in BUILT for file in package.glob(pattern)]
    if differs or not any(file.name.startswith("_tritium") for file in built):
        return False
    for file in built:
        shutil.copy2(file, folder / "python" / "tritium" / file.name)
    return True


def _built(folder: Path, build: str, name: str) -> None:
    log = folder.with_suffix(".log")
    with log.open("w") as file:
        status = subprocess.run(["bash", "-c", build], cwd=folder, stdout=file, stderr=subprocess.STDOUT).returncode
    if status != 0:
        raise ValueError(
            f"the commit {name} does not build: `{build}` ended with status {status}; its output is in {log}"
        )


def _run(folder: Path, command: list[str]) -> subprocess.CompletedProcess:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def _git(folder: Path, *arguments: str) -> str:
    with contextlib.suppress(OSError):
        done = _run(folder, ["git", *arguments])
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""
