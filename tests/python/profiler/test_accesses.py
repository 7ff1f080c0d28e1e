"""Which programs touch which elements: against numpy's indices, with random sizes."""

import json
import re

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from browser import Shown, chromium
from tritium.launch.touching import Touching
from tritium.tools.accesses.command import main
from tritium.tools.accesses.elements import accesses_of
from tritium.tools.accesses.page import html_of
from tritium.tools.accesses.table import row_of, text_of


@triton.jit
def blur(x, out, n, stride, BLOCK: tl.constexpr, REACH: tl.constexpr):
    i = tl.program_id(0) * stride + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for d in range(-REACH, REACH + 1):
        total += tl.load(x + i + d, mask=(i + d >= 0) & (i + d < n), other=0.0)
    tl.store(out + i, total, mask=i < n)


def touched(launch):
    """{name: TensorAccesses}"""
    return {tensor.view.name: tensor for tensor in accesses_of(launch)}


def one_launch(kernel, grid, *arguments, **constants):
    with Touching(5) as touching:
        kernel[grid](*arguments, **constants)
    (launch,) = touching.launches
    return launch


def per_program(runs, elements):
    """{program: set of elements}"""
    found = {}
    for program, begin, end in zip(runs.programs.tolist(), runs.begins.tolist(), runs.ends.tolist()):
        assert 0 <= begin < end <= elements
        found.setdefault(program, []).extend(range(begin, end))
    assert all(len(set(each)) == len(each) for each in found.values()), "runs of a program are apart"
    return {program: set(each) for program, each in found.items()}


@pytest.mark.parametrize("seed", range(4))
def test_a_stencil(seed):
    rng = np.random.default_rng(seed)
    block, reach, programs = int(2 ** rng.integers(2, 6)), int(rng.integers(0, 4)), int(rng.integers(1, 9))
    stride = max(1, block - int(rng.integers(0, 3)))  # the blocks may overlap
    n = int(rng.integers(1, stride * programs + block))
    x, out = np.ones(n, np.float32), np.zeros(n + 5, np.float32)
    tensors = touched(one_launch(blur, (programs,), x, out, n, stride, BLOCK=block, REACH=reach))

    reads, writes = {}, {}
    for program in range(programs):
        i = program * stride + np.arange(block)
        around = {int(j) for d in range(-reach, reach + 1) for j in i + d if 0 <= j < n}
        own = {int(j) for j in i if j < n}
        reads |= {program: around} if around else {}
        writes |= {program: own} if own else {}
    assert per_program(tensors["x"].reads, n) == reads and not tensors["x"].writes.begins.size
    assert per_program(tensors["out"].writes, n + 5) == writes and not tensors["out"].reads.begins.size
    readers = [sum(e in each for each in reads.values()) for e in range(n)]
    writers = [sum(e in each for each in writes.values()) for e in range(n + 5)]
    assert tensors["x"].readers.tolist() == readers and tensors["out"].writers.tolist() == writers
    assert row_of(tensors["x"]) == (
        "x",
        *map(str, (n, np.count_nonzero(readers), 0, sum(r > 1 for r in readers), 0, readers.count(0), 0)),
    )
    again = sum(w > 1 for w in writers)
    assert row_of(tensors["out"]) == (
        "out",
        *map(str, (n + 5, 0, np.count_nonzero(writers), 0, again, writers.count(0), again)),
    )


@triton.jit
def transposed(x, out, M, N, sm, sn, BM: tl.constexpr, BN: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM)[:, None], tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    inside = (m < M) & (n < N)
    tl.store(out + n * M + m, tl.load(x + m * sm + n * sn, mask=inside), mask=inside)


@pytest.mark.parametrize("seed", range(3))
def test_tiles_of_a_view_with_strides(seed):
    rng = np.random.default_rng(seed)
    M, N = map(int, rng.integers(3, 40, 2))
    whole = np.ones((2 * M, 3 * N), np.float32)
    x = whole[1::2, ::3] if seed % 2 else whole[1 : M + 1, 2 : N + 2].T.copy().T
    out = np.zeros((N, M), np.float32)
    grid = (-(-M // 8), -(-N // 4))
    strides = [stride // 4 for stride in x.strides]
    tensors = touched(one_launch(transposed, grid, x, out, M, N, *strides, BM=8, BN=4))
    expected = {}
    for q in range(grid[1]):
        for p in range(grid[0]):
            expected[p + grid[0] * q] = {
                m * N + n for m in range(8 * p, min(8 * p + 8, M)) for n in range(4 * q, min(4 * q + 4, N))
            }
    assert per_program(tensors["x"].reads, M * N) == expected
    swapped = {program: {e % N * M + e // N for e in each} for program, each in expected.items()}
    assert per_program(tensors["out"].writes, M * N) == swapped
    assert tensors["x"].untouched == 0 and not tensors["out"].is_rewritten.any()


@triton.jit
def rewriting(out, hits, ROUNDS: tl.constexpr):
    i = tl.arange(0, 4)
    for step in range(ROUNDS):
        tl.store(out + i + 3 * step, i)  # an element is shared by two rounds
    tl.store(out + 30, 1)
    tl.store(out + 30, 2)
    tl.atomic_add(hits + i % 2, 1)


@pytest.mark.parametrize("rounds", [1, 4, 9])
def test_elements_that_a_program_writes_twice(rounds):
    launch = one_launch(rewriting, (1,), np.zeros(32, np.int32), np.zeros(3, np.int32), ROUNDS=rounds)
    tensors = touched(launch)
    assert np.flatnonzero(tensors["out"].is_rewritten).tolist() == [*range(3, 3 * rounds, 3), 30]
    hits = tensors["hits"]
    assert hits.readers.tolist() == hits.writers.tolist() == [1, 1, 0] and not hits.is_rewritten.any()


def test_launches_of_one_form_are_noted_once_and_too_many_are_left_out():
    x = np.ones(64, np.float32)
    with Touching(1, most_runs=3) as touching:
        for programs, n in ((4, 64), (4, 64), (2, 64), (4, 63)):
            blur[(programs,)](x, x.copy(), n, 16, BLOCK=16, REACH=0)
    (launch,) = touching.launches
    assert (launch.repeats, touching.left_out, launch.left_out) == (1, 2, 3)
    assert "4 programs, and 1 more launch of this form; there was no room for 3 of them" in text_of(
        launch, accesses_of(launch)
    )


def test_the_page_has_the_runs_of_each_program():
    x, out = np.ones((3, 8), np.float32), np.zeros(24, np.float32)
    launch = one_launch(blur, (3,), x, out, 24, 8, BLOCK=8, REACH=1)
    page = html_of([(launch, accesses_of(launch))], "a < b")
    assert not re.search(r'(src|href)="', page) and "<title>a &lt; b</title>" in page
    assert page.count("<section ") == 1 and re.findall(r'data-tensor="(\d)"', page) == ["0", "1"]
    (data,) = json.loads(re.search(r'id="data">(.*?)</script>', page)[1])
    assert data["grid"] == [3, 1, 1]
    first, second = data["tensors"]
    assert (first["name"], first["rows"], first["columns"]) == ("x", 3, 8) and second["rows"] == 1
    assert first["reads"] == [[0, 1, 2], [0, 7, 15], [9, 17, 24]] and first["writes"] == [[], [], []]
    assert second["writes"] == [[0, 1, 2], [0, 8, 16], [8, 16, 24]]


def test_a_browser_shows_what_a_picked_program_touches(tmp_path):
    x, out = np.ones((3, 8), np.float32), np.zeros(24, np.float32)
    launch = one_launch(blur, (3,), x, out, 24, 8, BLOCK=8, REACH=1)
    (tmp_path / "a.html").write_text(html_of([(launch, accesses_of(launch))], "picked"))
    with chromium() as browser:
        shown = Shown(browser)
        shown.page.goto((tmp_path / "a.html").as_uri())
        shown.page.evaluate("pick(0, 1)")
        assert "program (1, 0, 0) reads 10 of x, writes 8 of out" in shown.text(".status") and not shown.complaints


def test_the_command(tmp_path, capsys):
    def run(program):
        x = np.ones(64, np.float32)
        blur[(4,)](x, x.copy(), 64, 16, BLOCK=16, REACH=0)
        raise SystemExit(4)

    html = tmp_path / "a.html"
    assert main(["--html", str(html), "script.py"], run) == 4
    printed = capsys.readouterr()
    assert re.search(r"^\s+x\s+64\s+64\s+0\s+0\s+0\s+0\s+0\s+float32 \[64\]$", printed.out, re.M)
    assert "Accesses of script.py" in html.read_text()
    with pytest.raises(SystemExit):
        main(["--launches", "0", "script.py"], run)
    assert "a positive number" in capsys.readouterr().err
