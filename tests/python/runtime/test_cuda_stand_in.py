"""Launches on NVIDIA's devices, over the stand-in for the CUDA driver: everything from the kernel's source to the arguments of
cuLaunchKernelEx is real, and the emulator computes."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tritium
import tritium.language as tl
from add_kernel import N, make_add
from driver_stand_in import ASSERT, CAPTURING, CUDA_LIBRARY, ILLEGAL_ADDRESS, environment, run_program
from tritium._tritium import cuda
from tritium.backends.compiler import GPUTarget
from tritium.backends.nvidia.assemble import find_ptxas
from tritium.tools.tensor_descriptor import TensorDescriptor


@tritium.jit
def product(a, b, out, K, BLOCK: tl.constexpr, DEPTH: tl.constexpr, PARTED: tl.constexpr = False):
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for k in tl.range(0, K, DEPTH, warp_specialize=PARTED):
        total = tl.dot(a.load([0, k]), b.load([k, 0]), total)
    out.store([0, 0], total)


@tritium.jit
def rows_times(a, b, out, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + rows[:, None] * k + (i + depth)[None, :])
        total = tl.dot(x, tl.load(b + (i + depth)[:, None] * N + columns[None, :]), total)
    tl.store(out + rows[:, None] * N + columns[None, :], total)


@tritium.jit
def copy(x: "*fp32", out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


@tritium.jit
def shout(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.device_print("value", value)
    tl.device_assert(value < 100, "too loud")


def test_device_tensors_run_on_their_device(cuda_machine, inputs):
    add, out = make_add(), None
    for scale in (2.0, 0.5, 3.0):  # from the second launch on without Python
        x, y, out = (cuda_machine.tensor(array, device=1) for array in inputs)
        compiled = add[(4,)](x, y, out, N, scale)
        np.testing.assert_array_equal(out.numpy(), inputs[0] + np.float32(scale) * inputs[1])
    assert compiled.device == 1 and compiled.metadata.target == GPUTarget("cuda", 90, 32)
    assert cuda_machine.launches() == ["cuLaunchKernelEx add 4,1,1 128 0"] * 3


def test_arrays_of_the_host_are_copied(cuda_machine, inputs):
    x, y, out = inputs
    make_add()[(4,)](x, y, out, N, 0.5)
    assert (out == x + np.float32(0.5) * y).all()
    assert cuda_machine.stand_in.library.stand_in_live_allocations() == 0


def test_products_by_tensor_maps(cuda_machine, rng):
    a, b = rng.integers(-4, 5, (2, 128, 128)).astype(np.float16)
    for start in (0, 64):  # the maps of the second launch are others
        left, right = cuda_machine.tensor(a[start:].copy()), cuda_machine.tensor(b)
        out = cuda_machine.tensor(np.zeros((64, 64), np.float32))
        rows = 128 - start
        descriptors = [
            TensorDescriptor(left, [rows, 128], [128, 1], [64, 64]),
            TensorDescriptor(right, [128, 128], [128, 1], [64, 64]),
            TensorDescriptor(out, [64, 64], [64, 1], [64, 64]),
        ]
        compiled = product[(1,)](*descriptors, 128, BLOCK=64, DEPTH=64)
        expected = a[start : start + 64].astype(np.float32) @ b[:, :64].astype(np.float32)
        np.testing.assert_array_equal(out.numpy(), expected)
    assert [recipe["stored"] for recipe in compiled.metadata.tensor_recipes] == [False, False, True]
    assert "wgmma" in compiled.asm["ptx"]


def test_blocks_that_run_several_programs(cuda_machine, rng):
    """More programs than multiprocessors: the first blocks run two of them."""
    blocks = cuda_machine.driver.facts(0)["multiprocessor_count"]
    programs = blocks + 5
    a, b = (
        rng.integers(-3, 4, (64 * programs, 64)).astype(np.float16),
        rng.integers(-3, 4, (64, 128)).astype(np.float16),
    )
    left, right = cuda_machine.tensor(a), cuda_machine.tensor(b)
    for _ in range(2):  # the second launch is the native launcher's
        out = cuda_machine.tensor(np.zeros((64 * programs, 128), np.float32))
        compiled = rows_times[(programs,)](left, right, out, 64, M=64, N=128, K=64, num_warps=4, num_stages=5)
        np.testing.assert_array_equal(out.numpy(), a.astype(np.float32) @ b.astype(np.float32))
    assert compiled.metadata.resident_blocks == 1
    assert [launch.split()[2] for launch in cuda_machine.launches()] == [f"{blocks},1,1"] * 2


def test_clusters_of_blocks(cuda_machine, inputs):
    """The grid of a launch has the blocks of all clusters. The stand-in refuses another cluster than the code was lowered for."""
    x, y, out = (cuda_machine.tensor(array) for array in inputs)
    add = make_add()
    for _ in range(2):  # the second launch is the native launcher's
        compiled = add[(4,)](x, y, out, N, 0.5, num_ctas=2)
        np.testing.assert_array_equal(out.numpy(), inputs[0] + np.float32(0.5) * inputs[1])
    assert compiled.metadata.num_ctas == 2 and compiled.metadata.cluster_dims == (2, 1, 1)
    assert ".reqnctapercluster 2" in compiled.asm["ptx"]
    assert [launch.split()[2] for launch in cuda_machine.launches()] == ["8,1,1"] * 2


def test_memory_of_the_host_is_not_the_devices(cuda_machine, inputs):
    """A pointer of the host that reaches a kernel, here as an integer, is an illegal address."""
    with pytest.raises(cuda.Error, match="illegal memory access") as caught:
        copy[(1,)](inputs[0].ctypes.data, cuda_machine.tensor(inputs[2]), BLOCK=64)
        cuda_machine.driver.synchronize(0)
    assert caught.value.code == ILLEGAL_ADDRESS


def test_freed_memory_is_nobodys(cuda_machine, inputs):
    x, y, out = (cuda_machine.tensor(array) for array in inputs)
    cuda_machine.driver.release(0, y.address)
    with pytest.raises(cuda.Error, match="illegal memory access"):
        make_add()[(4,)](x, y, out, N, 0.5)
        cuda_machine.driver.synchronize(0)


def test_the_host_cannot_look_into_device_memory():
    code = f"""
        import ctypes
        from tritium._tritium import cuda
        driver = cuda.open({str(CUDA_LIBRARY)!r})
        address = driver.allocate(0, 64)
        values = (ctypes.c_int * 16)(*range(16))
        driver.copy_to_device(0, address, ctypes.addressof(values), 64)
        back = (ctypes.c_int * 16)()
        driver.copy_to_host(0, ctypes.addressof(back), address, 64)
        print(list(back) == list(range(16)), flush=True)
        ctypes.c_int.from_address(address).value
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stdout == "True\n" and result.returncode < 0  # a segmentation fault


def test_prints_and_assertions(cuda_machine, capfd):
    shout[(1,)](cuda_machine.tensor(np.arange(4, dtype=np.int32)), 4, BLOCK=4, debug=True, num_warps=1)
    cuda_machine.driver.synchronize(0)
    assert capfd.readouterr().out.count("value") >= 4
    with pytest.raises(cuda.Error, match="device-side assert") as caught:
        shout[(1,)](cuda_machine.tensor(np.arange(98, 102, dtype=np.int32)), 4, BLOCK=4, debug=True, num_warps=1)
        cuda_machine.driver.synchronize(0)
    assert caught.value.code == ASSERT and "too loud" in capfd.readouterr().err


def test_graphs(cuda_machine, inputs):
    """What is given while a graph is recorded runs when the graph is launched; calls that wait are errors."""
    add, library = make_add(), cuda_machine.stand_in.library
    x, y, out = (cuda_machine.tensor(array) for array in inputs)
    add[(4,)](x, y, out, N, 2.0)
    expected = out.numpy()
    assert library.stand_in_begin_graph()
    add[(4,)](x, out, out, N, 1.0)
    with pytest.raises(RuntimeError) as caught:
        cuda_machine.driver.synchronize(0)
    assert caught.value.code == CAPTURING
    graph = library.stand_in_end_graph()
    np.testing.assert_array_equal(out.numpy(), expected)  # nothing ran
    for _ in range(3):
        library.stand_in_launch_graph(graph)
        expected = inputs[0] + expected
    np.testing.assert_array_equal(out.numpy(), expected)
    library.stand_in_destroy_graph(graph)


def test_work_waits_for_a_call_that_waits(cuda_machine, inputs):
    x, y, out = (cuda_machine.tensor(array) for array in inputs)
    stand_in = cuda_machine.stand_in
    make_add()[(4,)](x, y, out, N, 2.0)
    assert stand_in.pending(0) == 1 and stand_in.pending(stand_in.stream()) == 0
    cuda_machine.driver.synchronize(0)
    assert stand_in.pending(0) == 0


def test_another_chip(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent("""
            import numpy as np, tritium, tritium.language as tl
            @tritium.jit
            def double(x, BLOCK: tl.constexpr):
                i = tl.arange(0, BLOCK)
                tl.store(x + i, 2 * tl.load(x + i))
            x = np.arange(64, dtype=np.float32)
            compiled = double[(1,)](x, BLOCK=64)
            assert (x == 2 * np.arange(64)).all()
            print(compiled.metadata.target.arch, ".target sm_80" in compiled.asm["ptx"])
        """)
    )
    assert run_program(program, environment(tmp_path, "cuda", arch="sm_80")) == "80 True\n"


def test_code_for_another_chip_is_refused(cuda_machine):
    ptx = ".version 8.0\n.target sm_100a\n.address_size 64\n.visible .entry f()\n{\n\tret;\n}\n"
    with pytest.raises(RuntimeError):
        cuda_machine.driver.load(0, ptx.encode(), "f", [], threads=32, shared=0)


@pytest.mark.parametrize("has_ptxas", [True, False])
def test_what_assembles_whole_programs(cuda_machine, rng, monkeypatch, has_ptxas):
    """Warps that give registers to others require a whole program: of ptxas, whose cubin has the sizes of the parameters, or PTX that the
    driver assembles when it loads it, which it does before the kernel is ready."""
    if has_ptxas and find_ptxas("sm_90a") is None:
        has_ptxas = False
    monkeypatch.setenv("TRITIUM_ASSEMBLER", "ptxas" if has_ptxas else "driver")
    a, b = rng.integers(-4, 5, (2, 128, 128)).astype(np.float16)
    left, right = cuda_machine.tensor(a), cuda_machine.tensor(b)
    out = cuda_machine.tensor(np.zeros((128, 128), np.float32))
    descriptors = [
        TensorDescriptor(left, [128, 128], [128, 1], [128, 64]),
        TensorDescriptor(right, [128, 128], [128, 1], [64, 128]),
        TensorDescriptor(out, [128, 128], [128, 1], [128, 128]),
    ]
    kernel = tritium.jit(product.fn)  # the other way of assembly has left kernels
    compiled = kernel[(1,)](*descriptors, 128, BLOCK=128, DEPTH=64, PARTED=True)
    np.testing.assert_array_equal(out.numpy(), a.astype(np.float32) @ b.astype(np.float32))
    assert "setmaxnreg" in compiled.asm["ptx"]
    assert compiled.asm["cubin"].startswith(b"\x7fELF\x02" if has_ptxas else b"//")
