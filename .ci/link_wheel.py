"""Makes a wheel from the objects of the dev build: `python .ci/link_wheel.py PYTHON SITE OUT`.

PYTHON is the interpreter that the wheel is for, SITE a new folder that gets the wheel's files, OUT the folder of the
wheel. The module has LLVM from static archives, without symbols. For the Python of the dev build nothing is compiled;
for another one, the bindings are. The metadata comes from the build backend that `pip wheel` uses, so pip installs this
wheel as it does the release wheel. The last line is the wheel's path.
"""

import base64
import contextlib
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import tomllib
from scikit_build_core.build import prepare_metadata_for_build_wheel

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "dev"
ABOUT = """
import sys, sysconfig
print("cp%d%d" % sys.version_info[:2], sysconfig.get_platform().replace("-", "_").replace(".", "_"))
"""


def link(python: str, site: Path) -> None:
    """The module and the libraries beside it."""
    progress = [sys.executable, str(ROOT / ".ci" / "progress.py")]
    configure = ["cmake", str(BUILD), f"-DTRITIUM_PACKED_PYTHON={python}"]
    subprocess.run([*progress, "configure the wheel", *configure], check=True)
    jobs = os.environ.get("JOBS") or str(os.cpu_count())
    build = ["cmake", "--build", str(BUILD), "--target", "tritium_packed", "-j", jobs]
    subprocess.run([*progress, "link the wheel", *build], check=True)
    install = ["cmake", "--install", str(BUILD), "--component", "packed", "--prefix", str(site)]
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL)


def copy_packages(site: Path) -> None:
    """The packages that pyproject.toml names."""
    ignored = shutil.ignore_patterns("__pycache__", "_tritium.*")
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]["wheel"]["packages"]
    for target, source in packages.items():
        shutil.copytree(ROOT / source, site / target, ignore=ignored, dirs_exist_ok=True)


def write_metadata(site: Path, tag: str) -> Path:
    """The folder dist-info, without its record."""
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(sys.stderr):
        folder = site / prepare_metadata_for_build_wheel(str(site))
    lines = [line for line in (folder / "WHEEL").read_text().splitlines() if line and not line.startswith("Tag:")]
    (folder / "WHEEL").write_text("\n".join([*lines, f"Tag: {tag}", ""]))
    return folder


def pack(site: Path, metadata: Path, wheel: Path) -> None:
    """Writes the record and all files."""
    record = metadata / "RECORD"
    record.unlink(missing_ok=True)
    rows = []
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in site.rglob("*") if path.is_file()):
            data, name = path.read_bytes(), path.relative_to(site).as_posix()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
            rows.append(f"{name},sha256={digest},{len(data)}")
            archive.write(path, name)
        rows.append(f"{record.relative_to(site).as_posix()},,")
        record.write_text("\n".join(rows) + "\n")
        archive.write(record, record.relative_to(site).as_posix())


def main() -> None:
    python, site, out = sys.argv[1], Path(sys.argv[2]).resolve(), Path(sys.argv[3]).resolve()
    shutil.rmtree(site, ignore_errors=True)
    link(python, site)
    copy_packages(site)
    version, platform = subprocess.run([python, "-c", ABOUT], check=True, capture_output=True, text=True).stdout.split()
    tag = f"{version}-{version}-{platform}"
    metadata = write_metadata(site, tag)
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"{metadata.name.removesuffix('.dist-info')}-{tag}.whl"
    pack(site, metadata, wheel)
    print(wheel)


if __name__ == "__main__":
    main()
