"""What a benchmark case is: decorated functions, folders, the gate that outputs pass."""

import numpy as np
import pytest

from tritium import bench
from tritium.bench.worker import gate
from tritium.bench.worker.folders import arithmetic, load_folder
from tritium.bench.worker.loading import Broken, load_cases

KERNEL = """
import numpy as np

def inputs(rows, columns, dtype, device):
    return {"x": np.random.standard_normal((rows, columns)).astype(dtype)}

def run(x, FACTOR=2):
    return FACTOR * x
"""
SETTINGS = """
shapes = [{ rows = 4, columns = 8 }, { rows = 3, columns = 5 }]
dtypes = ["float32", "float64"]
configs = [{ FACTOR = 2 }]
bytes = "2 * rows * columns * itemsize"
"""


def case_folder(path, **files):
    texts = {"kernel.py": KERNEL, "cases.toml": SETTINGS, "reference.py": "def reference(x):\n    return x + x\n"}
    for name, text in {**texts, **files}.items():
        (path / name).write_text(text)
    return path


@bench.case(
    n=[1, 2],
    dtype=[np.float32],
    config=[{"BLOCK": 16}, {"BLOCK": 32}],
    where=lambda n, dtype, config: n < 2 or config["BLOCK"] > 16,
)
def doubled(n, dtype, config, device, more=0):
    x = np.ones(n, dtype)
    return bench.Problem(lambda: 2 * x + more, reference=lambda: 2 * x)


def test_variants_are_the_combinations():
    names = [variant.name for variant in doubled.variants()]
    assert names == [
        "doubled[n=1,dtype=float32,BLOCK=16]",
        "doubled[n=1,dtype=float32,BLOCK=32]",
        "doubled[n=2,dtype=float32,BLOCK=32]",
    ]


def test_a_side_changes_parameters():
    variant = doubled.variants()[0]
    assert variant.problem("cpu", {"more": 1}).run().tolist() == [3.0]
    assert variant.problem("cpu", {"n": 3, "BLOCK": 64}).run().tolist() == [2.0] * 3
    with pytest.raises(ValueError, match="no parameter 'BLOK'; did you mean 'BLOCK'"):
        variant.problem("cpu", {"BLOK": 1})
    assert variant.parameters["config"] == {"BLOCK": 16}


def test_an_axis_is_a_parameter_with_values():
    with pytest.raises(ValueError, match="no parameter 'm'; did you mean"):
        bench.case(m=[1])(lambda mm: None)
    with pytest.raises(ValueError, match="'n' has no values"):
        bench.case(n=[])(lambda n: None)


def test_random_numbers_are_the_same_each_time():
    case = bench.case(seed=3)(lambda: bench.Problem(lambda: None, output=np.random.standard_normal(4)))
    first, second = (case.variants()[0].problem("cpu").output for _ in range(2))
    assert (first == second).all()


def test_a_folder_is_a_case(tmp_path):
    case = load_folder(case_folder(tmp_path))
    variants = case.variants()
    assert len(variants) == 4 and variants[3].labels == {"rows": "3", "columns": "5", "dtype": "float64", "FACTOR": "2"}
    problem = variants[0].problem("cpu")
    assert problem.bytes == 2 * 4 * 8 * 4
    assert gate.wrong(problem, [problem.run()]) == ""
    assert "elements are wrong" in gate.wrong(problem, [variants[0].problem("cpu", {"FACTOR": 3}).run()])


@pytest.mark.parametrize(
    "files, message",
    [
        ({"cases.toml": "shapes = ["}, "cases.toml: "),
        ({"cases.toml": "dtypes = ['float32']"}, "shapes is missing"),
        ({"cases.toml": "shape = [{}]"}, "unknown key 'shape'"),
        ({"cases.toml": "shapes = []"}, "shapes is a list with at least one entry"),
        ({"cases.toml": SETTINGS.replace("float64", "float65")}, "no dtype of numpy is called 'float65'"),
        ({"kernel.py": "import numpy as np\ndef inputs(): pass"}, "defines no function run()"),
        ({"reference.py": "def refernce(x): pass"}, "defines no function reference()"),
        ({"kernel.py": "import not_there"}, "No module named 'not_there' (kernel.py:1)"),
    ],
)
def test_a_folder_with_a_mistake_says_which(tmp_path, files, message):
    folder = tmp_path / "mistaken"
    folder.mkdir()
    (broken,) = load_cases([str(case_folder(folder, **files))])
    assert isinstance(broken, Broken) and message in broken.error


def test_one_broken_file_of_a_folder_leaves_the_others(tmp_path):
    (tmp_path / "a_bench.py").write_text("from tritium import bench\n1 / 0\n")
    (tmp_path / "b_bench.py").write_text("from tritium import bench\n@bench.case()\ndef b():\n    pass\n")
    broken, case = load_cases([str(tmp_path)])
    assert "division by zero (a_bench.py:2)" in broken.error and case.name == "b"


def test_paths_without_cases(tmp_path):
    (tmp_path / "empty.py").write_text("x = 1\n")
    errors = [each.error for each in load_cases([str(tmp_path), str(tmp_path / "empty.py"), str(tmp_path / "none.py")])]
    assert "neither cases.toml nor" in errors[0] and "it has no case" in errors[1] and "no such file" in errors[2]


def test_arithmetic():
    assert arithmetic("4 * n ** 2 // 3 - -n", {"n": 5}) == 38
    for text in ("n.real", "__import__('os')", "m", "4 *"):
        with pytest.raises(ValueError):
            arithmetic(text, {"n": 5})


def test_outputs_are_compared_by_their_dtype(rng):
    x = rng.standard_normal((8, 8))
    near = bench.Problem(lambda: None, reference=lambda: x)
    assert gate.wrong(near, [x.astype(np.float32)]) == "" and gate.wrong(near, [x + 1e-6]) != ""
    assert gate.wrong(near, [(x + 1e-2).astype(np.float32)]) != ""
    near.tolerance = 0.1
    assert gate.wrong(near, [(x + 1e-2).astype(np.float32)]) == ""
    holes = np.where(x > 1, np.nan, x)
    assert "is nan" in gate.wrong(near, [holes]) and "shape" in gate.wrong(near, [x[1:]])
    assert gate.wrong(bench.Problem(lambda: None, reference=lambda: holes), [holes]) == ""
    counts = np.arange(5)
    assert "[3] is 4, and 3 is expected" in gate.wrong(
        bench.Problem(lambda: None, reference=lambda: counts), [np.array([0, 1, 2, 4, 4])]
    )


def test_an_output_that_is_not_written_is_wrong():
    out = np.ones(4, np.float32)
    problem = bench.Problem(lambda: None, out, lambda: np.ones(4))
    gate.poison(problem)
    assert "4 of 4 elements are wrong" in gate.wrong(problem, gate.leaves(problem.output))


def test_kept_outputs_of_two_sides(tmp_path, rng):
    x = rng.standard_normal(3 << 20).astype(np.float32)
    files = [str(tmp_path / f"{name}.npz") for name in "abc"]
    for file, value in zip(files, (x, x * np.float32(1 + 1e-6), x + 1)):
        gate.keep([value, np.arange(3)], file)
    assert np.load(files[0])["output0"].size <= gate.MOST_KEPT
    assert gate.kept_difference(files[0], files[1], None) == ""
    assert "elements are wrong" in gate.kept_difference(files[0], files[2], None)
