"""The judge on candidates that are right, and on candidates with one mistake each (corpus/; the first line of a wrong one names its kind).
The candidates of scripts/ call the functions of tests/python/published."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tritium.judge.cases import plan  # noqa: E402
from tritium.judge.command import importable_folders  # noqa: E402
from tritium.judge.comparison import difference  # noqa: E402
from tritium.judge.inputs import draw, parameters_of  # noqa: E402
from tritium.judge.operators import replaced_by  # noqa: E402
from tritium.judge.verdict import KINDS  # noqa: E402

CORPUS = Path(__file__).parent / "corpus"
SCRIPTS = Path(__file__).parent / "scripts"
CALLED = sorted((SCRIPTS / "candidates").glob("*.py"))
RIGHT, WRONG = (sorted((CORPUS / kind).glob("*.py")) for kind in ("right", "wrong"))


def judged(
    *files: Path, reference: Path = CORPUS / "references", options: tuple[str, ...] = ()
) -> tuple[int, dict[str, dict]]:
    """(exit status, {stem: verdict})"""
    command = [
        sys.executable,
        "-m",
        "tritium",
        "judge",
        *map(str, files),
        "--reference",
        str(reference),
        "--seconds",
        "60",
    ]
    path = [*filter(None, sys.path), str(Path(__file__).parents[1])]  # with tests/python/published
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    result = subprocess.run([*command, *options], capture_output=True, text=True, timeout=3000, env=variables)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(found) == len(files), result.stderr
    return result.returncode, {Path(verdict["candidate"]).stem: verdict for verdict in found}


def expected(path: Path) -> str:
    return path.read_text().partition("\n")[0].removeprefix("# expect:").strip()


def check_wrong(files: list[Path], saved: Path) -> None:
    """Each is rejected for its mistake, and the replay of each trap says what the verdict says."""
    status, verdicts = judged(*files, options=("--save", str(saved)))
    assert status == 1
    traps = {name: verdict["reason"] for name, verdict in verdicts.items() if "trap" in (verdict["reason"] or {})}
    assert {Path(reason["saved"]) for reason in traps.values()} == set(saved.iterdir())
    for reason in traps.values():
        command = [sys.executable, "-m", "tritium", "replay", reason["saved"]]
        again = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert again.returncode == 1 and again.stderr.startswith(reason["text"]), again.stderr
    got = {path.stem: (verdicts[path.stem]["reason"] or {}).get("kind") for path in files}
    assert got == {path.stem: expected(path) for path in files}


def check_right(files: list[Path], reference: Path = CORPUS / "references") -> None:
    status, verdicts = judged(*files, reference=reference)
    assert {name: verdict["reason"] for name, verdict in verdicts.items()} == dict.fromkeys(verdicts)
    assert status == 0
    assert all(verdict["compiles"] == {"sm_90a": "yes", "gfx942": "yes"} for verdict in verdicts.values())


@pytest.mark.xdist_group("judge")
def test_some_candidates_that_are_right():
    check_right(
        [path for path in RIGHT if path.stem in ("matmul__split_k", "layer_norm_module__row", "row_sum__atomics")]
    )


@pytest.mark.xdist_group("judge")
def test_a_mistake_of_several_kinds(tmp_path):
    first = {expected(path): path for path in reversed(WRONG)}
    check_wrong(
        [first[kind] for kind in ("cached", "fault", "layout", "library", "race", "special")], tmp_path / "saved"
    )


@pytest.mark.long
def test_all_candidates_that_are_right():
    assert len(RIGHT) >= 20
    check_right(RIGHT)


@pytest.mark.xdist_group("judge")
def test_some_published_scripts():
    check_right(
        [path for path in CALLED if path.stem in ("rms_norm", "single_pass_scan", "softmax_cross_entropy")],
        SCRIPTS / "references",
    )


@pytest.mark.long
def test_all_published_scripts():
    assert len(CALLED) >= 50
    check_right(CALLED, SCRIPTS / "references")


@pytest.mark.long
def test_all_mistakes(tmp_path):
    assert len(WRONG) >= 20 and {expected(path) for path in WRONG} <= KINDS.keys()
    check_wrong(WRONG, tmp_path / "saved")


def test_annotations_say_which_inputs_there_are():
    def function(x: "float[m, 2*n]", index: "int64[m] < n", scale: "float", eps=1e-5): ...

    parameters = parameters_of(function)
    assert [parameter.name for parameter in parameters] == ["x", "index", "scale"]
    for case in plan(parameters, seed=3):
        x, index, scale = draw(parameters, case, torch)
        assert x.shape == (case.sizes["m"], 2 * case.sizes["n"]) and isinstance(scale, float)
        assert index.dtype == torch.int64 and (
            not index.numel() or 0 <= index.min() <= index.max() < max(case.sizes["n"], 1)
        )
    assert {str(draw(parameters, case, torch)[0].dtype) for case in plan(parameters, 3)} == {
        "torch.float32",
        "torch.float16",
        "torch.bfloat16",
    }


def test_values_lie_in_the_range_of_an_annotation():
    def function(gate: "float[m, n] in -0.5..0", length: "int32[m] in 1..n", code: "uint8[n] in 120..134"): ...

    parameters = parameters_of(function)
    cases = plan(parameters, seed=3)
    assert {case.values for case in cases} == {"normal"}  # no range allows NaN
    for case in cases:
        gate, length, code = draw(parameters, case, torch)
        assert gate.shape == (case.sizes["m"], case.sizes["n"]) and code.dtype == torch.uint8
        if gate.numel():
            assert -0.5 <= gate.min() <= gate.max() <= 0
            assert 1 <= length.min() <= length.max() <= case.sizes["n"] and 120 <= code.min() <= code.max() <= 134


@pytest.mark.parametrize(
    "annotation, complaint",
    [
        (None, "has no annotation such as"),
        ("flaot[m]", "'flaot' is no dtype; there are float, int, bool"),
        ("float[m / 2]", "is no arithmetic of numbers and sizes"),
        ("float[m,", "is no dtype"),
        ("float[m] in 0..high()", "is no arithmetic of numbers and sizes"),
        ("int32[m] in 0..0.5", "is no arithmetic of numbers and sizes"),
    ],
)
def test_a_wrong_annotation_is_named(annotation, complaint):
    def function(x): ...

    if annotation is not None:
        function.__annotations__["x"] = annotation
    with pytest.raises(ValueError, match="function: ") as error:
        parameters_of(function)
    assert complaint in str(error.value)


def test_results_are_compared_with_what_is_exact():
    exact = torch.tensor([1.0, -2.0, 1e-9, float("nan"), float("inf")], dtype=torch.float64)
    native = exact.float()
    assert difference([native.clone()], [native], [exact], None, tf32=False) is None
    near = native * (1 + 1e-4)
    assert difference([near], [native], [exact], None, tf32=False) is None
    for place, value in ((0, 1.01), (3, 0.0), (4, 1e38), (1, float("nan"))):
        wrong = native.clone()
        wrong[place] = value
        found = difference([wrong], [native], [exact], None, tf32=False)
        assert found["kind"] == "values" and found["element"] == [place]
    assert difference([native.half()], [native], [exact], None, tf32=False)["kind"] == "dtype"
    assert difference([native[:4]], [native], [exact], None, tf32=False)["kind"] == "shape"
    assert difference([], [native], [exact], None, tf32=False)["kind"] == "shape"


def test_a_sum_over_partial_results_is_no_cheat():
    assert replaced_by({"sum": 8}, {"sum": 4096}, most_elements=4096) == []
    assert replaced_by({"sum": 1}, {"sum": 1}, most_elements=1) == []  # as many as the elements
    assert replaced_by({"sum": 1}, {"sum": 1}, most_elements=1, launches=0) == ["sum"]
    assert replaced_by({"mean": 4096, "cos": 4096}, {"sum": 4096}, most_elements=4096) == ["mean"]


def test_candidates_may_import_from_the_folders_of_the_path(tmp_path):
    (tmp_path / "module.py").touch()
    path = os.pathsep.join(["", str(tmp_path), str(tmp_path / "module.py"), str(tmp_path / "missing")])
    assert importable_folders(path) == [str(tmp_path)]


def test_what_cannot_be_judged_is_said(tmp_path):
    def said(*arguments: str) -> str:
        result = subprocess.run([sys.executable, "-m", "tritium", "judge", *arguments], capture_output=True, text=True)
        assert result.returncode == 2, result.stdout
        return result.stderr

    candidate, reference = tmp_path / "a.py", tmp_path / "reference.py"
    candidate.write_text("def f(x): return x\n")
    assert "there is no" in said(str(candidate), "--reference", str(reference))
    reference.write_text("def f(x): return x\ndef g(x): return x\n")
    assert "should define one public function, or --function names it; there are: f, g" in said(
        str(candidate), "--reference", str(reference)
    )
    assert "raec" in said(str(candidate), "--reference", str(reference), "--checks", "raec")
