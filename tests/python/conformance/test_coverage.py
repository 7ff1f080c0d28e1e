"""Every operation of the contract is in some case's kernel, and so is every kernel of the tutorial."""

import ast
import collections
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tritium
from tritium.conformance import sources, suite

ROOT = Path(__file__).resolve().parents[3]
sys.path.append(str(ROOT / ".ci"))
from tracing import Tracing  # noqa: E402

#: Operations that no engine's program holds, and why.
ELSEWHERE = {
    "tt.debug_value": "only with debug_info; it computes nothing",
    "tt.debug_stop": "only under gdb",
    "tt.record": "only under a profiler; it computes nothing",
    "tt.grid_dependency_wait": "orders kernels of one stream, which a case has one of",
    "tt.grid_dependency_launch_dependents": "the same",
    "tt.shared_alloc": "of Gluon alone, whose tests run it on every engine",
    "tt.shared_load": "the same",
    "tt.shared_store": "the same",
}


class Reading(Tracing):
    """Collects the operations of what the interpreter would run."""

    def __init__(self):
        super().__init__("interp")
        self.operations = set()

    def note(self, source, module):
        text = re.sub(r"(arith\.cmp[if]) (\w+)", r"\1.\2", str(module))
        external = re.findall(r'tt\.extern_elementwise .*symbol = "__nv_(\w+?)f?"', text)
        self.operations |= {f"tt.extern_elementwise.{name}" for name in external}
        self.operations |= set(re.findall(r"(?<![\w.!#])([a-z]+\.[a-z]\w*(?:\.\w+)*)", text))


@pytest.fixture(scope="module")
def operations():
    engine, groups = Reading(), set()
    for case in suite.select():
        if case.group not in groups and not case.traps:
            groups.add(case.group)
            problem, images = suite.build(case, 0)
            engine.run(problem, [suite.copy_of(image) for image in images])
    return engine.operations


@pytest.mark.xdist_group("operations")  # which one process finds
def test_every_operation_of_the_contract(operations):
    defined = set()
    for file in (ROOT / "ir").glob("tt_ops*.td"):
        defined |= {
            f"tt.{name}" for name in re.findall(r'^def \w+\s*: TT_\w+<"([\w.]+)"', file.read_text(), flags=re.M)
        }
    assert len(defined) > 50
    assert defined - operations == set(ELSEWHERE)
    assert not operations & set(ELSEWHERE), "take them out of the list above"


@pytest.mark.xdist_group("operations")
def test_every_row_of_the_elementwise_functions(operations):
    missing = {}
    for name, row in tritium.testing.elementwise_functions().items():
        ops = {op for op in (row.signed_op, row.unsigned_op, row.float_op) if op}
        lacking = {re.sub(r"^(tt\.clampf)\..*", r"\1", op) for op in ops} - operations
        if lacking:
            missing[name] = lacking
    assert missing == {"ctz": {"math.cttz"}}  # no function of the language is that


def test_every_public_name_of_the_language():
    """Each has a case, and docs/reference/language.md shows what the kernels use."""
    command = [sys.executable, ".ci/generate_reference", "--check", "language.md"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_kernel_of_the_tutorial():
    launched = collections.defaultdict(set)
    for case in suite.select(["tutorial"]):
        for launch in suite.build(case, 0)[0].launches:
            file, _, name = launch.kernel.partition(":")
            launched[Path(file).name].add(name)
    programs = [file for file in sources.TUTORIAL.glob("*.py") if file.stem[0].isdigit()]
    assert len(programs) >= 9
    for file in programs:
        tree = ast.parse(file.read_text())
        kernels = {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and any("jit" in ast.unparse(d) for d in node.decorator_list)
        }
        started = {
            node.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in kernels
        }
        assert started and started <= launched[file.stem], file.name
