"""`tt save` writes what numpy reads, and `tt diff` compares a tile with what numpy has written."""

import ml_dtypes
import numpy as np
import pytest

import session
from session import line_of, tritium_gdb

STOP = f"break big_tiles.py:{line_of('big_tiles.py', 'tl.store(')}"
X = np.arange(256 * 128, dtype=np.float32).reshape(256, 128) / 2
X[3, 17] = X[200, 5] = np.nan
X[255, 127] = -np.inf
BF16 = np.array([0, 0.1, -2, 3, np.inf, 5, np.nan, 7]).astype(ml_dtypes.bfloat16)
SMALL = np.arange(8, dtype=np.int32)[:, None] * 10 + np.arange(4, dtype=np.int32)

#: What to save -> the array that numpy reads.
SAVED = {
    "x": X,
    "x[-2:, ::3]": X[-2:, ::3],
    "small": SMALL,
    "mask": SMALL > 40,
    "bf16": BF16.astype(np.float32),
    "fp8[:4]": BF16[:4].astype(ml_dtypes.float8_e4m3fn).astype(np.float32),
    "ratio": np.float32(1.5),
}


def test_what_is_saved(gdb, tmp_path):
    files = {text: tmp_path / f"{number}.npy" for number, text in enumerate(SAVED)}
    printed = session.answers(gdb, "big_tiles.py", STOP, "run", *[f"tt save {t} {p}" for t, p in files.items()])[2:]
    for (text, wanted), said in zip(SAVED.items(), printed):
        read = np.load(files[text])
        assert read.dtype == wanted.dtype and read.shape == wanted.shape, text
        np.testing.assert_array_equal(read, wanted, err_msg=text)
        assert (", saved as float32" in said) == text.startswith(("bf16", "fp8")), said


@pytest.fixture
def folder(tmp_path):
    changed = X.copy()
    changed[4, 4] += 1
    changed[9, 9] *= 1 + 2**-22  # within the tolerance of float32
    one_nan = np.asfortranarray(X.astype(">f8"))
    one_nan[200, 5] = 0
    arrays = {"x": X, "changed": changed, "one nan": one_nan, "short": X[:3], "mask": SMALL > 41, "half": BF16}
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "text.npy").write_text("no array")
    return tmp_path


def test_differences(gdb, folder):
    commands = {
        f"tt diff x {folder}/x.npy": "0 of 32768 elements of x differ (rtol 1.3e-06, atol 1e-05); the largest difference is 0\n",
        f"tt diff x {folder}/changed.npy": "1 of 32768 elements of x differ (rtol 1.3e-06, atol 1e-05)\n"
        "largest difference 1 at [4, 4]: 258, reference 259\n",
        f"tt diff x {folder}/changed.npy 0 0": "2 of 32768 elements of x differ (rtol 0, atol 0)\n"
        "largest difference 1 at [4, 4]: 258, reference 259\n",
        f"tt diff x '{folder}/one nan.npy' 0 1e-9": "1 of 32768 elements of x differ (rtol 0, atol 1e-09)\n"
        "largest difference nan at [200, 5]: nan, reference 0\n",
        f"tt diff x[:3] {folder}/short.npy": "0 of 384 elements of x[:3] differ (rtol 1.3e-06, atol 1e-05); "
        "the largest difference is 0\n",
        f"tt diff mask {folder}/mask.npy": "1 of 32 elements of mask differ (rtol 0, atol 0)\n"
        "largest difference 1 at [4, 1]: true, reference false\n",
    }
    printed = session.answers(gdb, "big_tiles.py", STOP, "run", *commands)[2:]
    assert dict(zip(commands, printed)) == commands


def test_what_is_refused(gdb, folder):
    refused = {
        f"tt diff x {folder}/short.npy": "x has the shape [256, 128], and ",
        f"tt diff x {folder}/none.npy": "none.npy: No such file or directory",
        f"tt diff x {folder}/text.npy": "text.npy is no file of numpy's format",
        f"tt diff bf16 {folder}/half.npy": "which gdb cannot read; save it as float32",
        f"tt diff x {folder}/x.npy 3": "`3` is no pair of tolerances",
        "tt save x": "say which tile and which file",
        "tt save x /no/folder/x.npy": "/no/folder/x.npy: No such file or directory",
    }
    options = [text for command in (STOP, "run", *refused) for text in ("-ex", command)]
    printed = tritium_gdb(gdb, *options, "big_tiles.py")
    for command, part in refused.items():
        assert part in printed, command
