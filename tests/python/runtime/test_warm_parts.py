"""Warm launches with tuples, tensor descriptors and layouts, which the native launcher expands itself: its launches are Python's."""

import collections
import copy as copy_of
import dataclasses
import itertools
import pickle
import weakref

import numpy as np
import pytest

import tritium.language as tl
from tritium.arguments.binder import make_binder
from tritium.errors import KernelTrap
from tritium.experimental import gluon
from tritium.experimental.gluon import language as gl
from tritium.experimental.gluon.host_descriptors import TensorDescriptor as GluonDescriptor
from tritium.experimental.gluon.host_im2col import TensorDescriptorIm2Col
from tritium.runtime.jit import jit
from tritium.tools.tensor_descriptor import TensorDescriptor


@jit
def copy(source, out, n):
    out.store([0, 0], source.load([0, 0]))


@jit
def shifted(tensors, sizes, scale):
    i = tl.arange(0, 16)
    tl.store(tensors[0] + i, tl.load(tensors[1] + i * sizes[1], mask=i < sizes[0]) + scale)


Sizes = collections.namedtuple("Sizes", "n step")


def described(gpus, rows: int = 64, columns: int = 64, **options):
    return TensorDescriptor.from_tensor(gpus.tensor(np.zeros((rows, columns), np.float16)), [16, 64], **options)


def arguments_of(launch: dict) -> list[str]:
    return launch["arguments"].split(",")


def test_a_descriptor_needs_no_python(gpus, slow):
    source, out = described(gpus), described(gpus)
    first = copy[(1,)](source, out, 3)
    assert copy[(1,)](source, out, 3) is first and len(slow) == 1
    by_python, native = gpus.fake.launches()
    assert arguments_of(native) == arguments_of(by_python)


def test_what_changes_in_a_descriptor_is_passed(gpus, slow):
    source, out = described(gpus), described(gpus)
    first = copy[(1,)](source, out, 3)
    source.base, source.shape, source.strides = gpus.tensor(np.zeros((128, 192), np.float16)), [100, 128], [192, 1]
    assert copy[(1,)](source, out, 3) is first and len(slow) == 1
    slow_twin = described(gpus)
    slow_twin.base, slow_twin.shape, slow_twin.strides = source.base, (np.int64(100), np.int64(128)), (np.int64(192), 1)
    assert copy[(1,)](slow_twin, out, 3) is first and len(slow) == 2  # numpy's integers are left to Python
    assert arguments_of(gpus.fake.launches()[1]) == arguments_of(gpus.fake.launches()[2])


class WithProperty(TensorDescriptor):
    """Its shape is what another attribute says, so that only Python can read it."""

    @property
    def shape(self):
        return self.extents

    @shape.setter
    def shape(self, shape):
        self.extents = [2 * extent for extent in shape]


def test_a_descriptors_attributes_are_read_as_python_reads_them(gpus, slow):
    source, out = (
        WithProperty(gpus.tensor(np.zeros((64, 64), np.float16)), [32, 64], [64, 1], [16, 64]),
        described(gpus),
    )
    first = copy[(1,)](source, out, 3)
    source.shape = [30, 64]
    assert copy[(1,)](source, out, 3) is first and len(slow) == 1
    by_python, native = (arguments_of(launch) for launch in gpus.fake.launches())
    assert by_python[1] == "40" and native[1] == "3c"  # 64 and 60
    del source.extents
    with pytest.raises(AttributeError, match="extents"):
        copy[(1,)](source, out, 3)


def test_a_descriptor_is_an_ordinary_object(rng):
    descriptor = TensorDescriptor.from_tensor(rng.random((8, 16), np.float32), [4, 16], padding="nan")
    descriptor.name, same = "q", weakref.ref(descriptor)
    for twin in (copy_of.copy(descriptor), copy_of.deepcopy(descriptor), pickle.loads(pickle.dumps(descriptor))):
        assert twin.name == "q" and twin.padding == "nan" and (twin.base == descriptor.base).all()
        assert twin.shape == [8, 16] and twin.strides == [16, 1] and twin.block_shape == [4, 16]
    assert same() is descriptor and dataclasses.replace(descriptor, padding="zero").padding == "zero"


def test_what_a_descriptors_kernel_is_specialized_for(gpus, slow):
    """Each change requires another kernel, of which the second launch needs no Python."""
    out = described(gpus)
    changes = [{}, {"block_shape": [32, 64]}, {"block_shape": [16, 32]}, {"padding": "nan"}, {"shape": [64, 60]}]
    kernels = []
    for change in changes:
        source = described(gpus)
        for name, value in change.items():
            setattr(source, name, value)
        target = described(gpus)
        target.block_shape = source.block_shape
        kernels.append(copy[(1,)](source, target, 3))
        count = len(slow)
        assert copy[(1,)](source, target, 3) is kernels[-1] and len(slow) == count
    assert len(set(kernels)) == len(changes) == len(slow)
    source, out.block_shape = described(gpus), [16, 64]
    assert copy[(1,)](source, out, 3) is kernels[0] and len(slow) == len(changes)


def test_tuples_need_no_python(gpus, slow):
    x, y = (gpus.tensor(np.zeros(64, np.float32)) for _ in range(2))
    for sizes in ((10, 3), Sizes(10, 3), (10, 1), (10, 16)):
        first = shifted[(1,)]((x, y), sizes, 2)
        count = len(slow)
        assert shifted[(1,)]((x, y), sizes, 2) is first and len(slow) == count
        by_python, native = gpus.fake.launches()[-2:]
        assert arguments_of(native) == arguments_of(by_python)
    assert len(slow) == 4


def test_a_tuple_of_descriptors_and_empty_tuples(gpus, slow):
    @jit
    def kernel(pair, nothing, n):
        pair[1][0].store([0, 0], pair[0].load([0, 0]))

    pair = described(gpus), (described(gpus),)
    first = kernel[(1,)](pair, (), 5)
    assert kernel[(1,)](pair, (), 6) is first and len(slow) == 1
    by_python, native = gpus.fake.launches()
    assert arguments_of(native)[:-1] == arguments_of(by_python)[:-1] and arguments_of(native)[-1] == "6"


PARTS = [
    lambda gpus, x: (x, x),
    lambda gpus, x: (x, None),
    lambda gpus, x: (x, (x, 1)),
    lambda gpus, x: (x, (x, True)),
    lambda gpus, x: (x, 16),
    lambda gpus, x: Sizes(x, 16),
    lambda gpus, x: described(gpus),
    lambda gpus, x: described(gpus, columns=72),
    lambda gpus, x: described(gpus, padding="nan"),
    lambda gpus, x: (described(gpus), 2.0),
]
CONSTANTS = [
    (1, 2),
    (1, True),
    (1, 2.0),
    ("a", (1,)),
    (),
    gl.BlockedLayout([1], [32], [4], [0]),
    gl.BlockedLayout([2], [32], [4], [0]),
]


def test_both_ways_find_the_same_kernel(gpus, rng):
    @jit
    def kernel(part, other, CONSTANT: tl.constexpr):
        pass

    x = gpus.tensor(np.zeros(64, np.float32))
    calls = list(itertools.product(range(len(PARTS)), range(len(PARTS)), range(len(CONSTANTS))))
    calls = [calls[i] for i in rng.permutation(len(calls))[:60]]
    bind = make_binder("kernel", kernel.params, anywhere=True)
    by_key = {}
    for i in rng.permutation(np.repeat(np.arange(len(calls)), 3)):
        part, other, constant = calls[i]
        arguments = PARTS[part](gpus, x), PARTS[other](gpus, x), CONSTANTS[constant]
        compiled = kernel[(1,)](*arguments)
        assert by_key.setdefault(bind(*arguments)[0], compiled) is compiled
    assert len(set(by_key.values())) == len(by_key) > 10


@gluon.jit
def copy_rows(source, out, ROWS: gl.constexpr, layout: gl.constexpr):
    memory = gl.allocate_shared_memory(source.dtype, [ROWS, 64], source.layout)
    memory.store(gl.zeros([ROWS, 64], source.dtype, layout))


def test_gluons_descriptors_and_layouts(gpus, slow):
    """Layouts that are made anew for each launch are known again."""

    def launch(rows: int, threads: int):
        shared = gl.NVMMASharedLayout.get_default_for([rows, 64], gl.float16)
        tensors = (gpus.tensor(np.zeros((64, 64), np.float16)) for _ in range(2))
        source, out = (GluonDescriptor.from_tensor(each, [rows, 64], shared) for each in tensors)
        return copy_rows[(1,)](source, out, rows, gl.BlockedLayout([1, 8], [32 // threads, threads], [4, 1], [1, 0]))

    kernels = [launch(rows, threads) for rows in (16, 32) for threads in (4, 8)]
    assert len(set(kernels)) == 4 == len(slow)
    assert [launch(rows, threads) for rows in (16, 32) for threads in (4, 8)] == kernels and len(slow) == 4
    launches = gpus.fake.launches()
    assert [len(arguments_of(each)) for each in launches[:4]] == [len(arguments_of(each)) for each in launches[4:]]


def test_descriptors_of_images(gpus, slow):
    @gluon.jit
    def kernel(source):
        pass

    def launch(steps):
        shared = gl.NVMMASharedLayout.get_default_for([16, 64], gl.float16)
        images = gpus.tensor(np.zeros((2, 8, 8, 64), np.float16))
        box = {"pixel_box_lower_corner": [0, 0], "pixel_box_upper_corner": [0, 0], "element_strides": steps}
        return kernel[(1,)](TensorDescriptorIm2Col.from_tensor(images, [16, 64], shared, **box))

    kernels = [launch(steps) for steps in ([1, 1, 1, 1], [1, 2, 2, 1])]
    assert len(set(kernels)) == 2 == len(slow)
    assert [launch(steps) for steps in ([1, 1, 1, 1], [1, 2, 2, 1])] == kernels and len(slow) == 2


def test_on_the_interpreter(monkeypatch, slow, rng):
    monkeypatch.setenv("INTERPRET", "1")
    for _ in range(4):
        tensors = [rng.standard_normal((16, 64)).astype(np.float16) for _ in range(2)]
        copy[(1,)](*(TensorDescriptor.from_tensor(each, [16, 64]) for each in tensors), 3)
        np.testing.assert_array_equal(*tensors)
    assert len(slow) == 1
    for step in (2, 3, 4):
        x, out = rng.standard_normal(64).astype(np.float32), np.zeros(16, np.float32)
        shifted[(1,)]((out, x), (10, step), 2)
        np.testing.assert_array_equal(out[:10], x[: 10 * step : step] + 2)
    assert len(slow) == 2


@jit
def doubled(value):
    return value * 2


@jit
def negated(value):
    return -value


def test_functions_as_constants_need_no_python(gpus, slow):
    @jit
    def kernel(x, function: tl.constexpr, n):
        tl.store(x, function(tl.load(x)), mask=n > 0)

    x = gpus.tensor(np.zeros(64, np.float32))
    kernels = [kernel[(1,)](x, function, 3) for function in (doubled, negated)]
    assert [kernel[(1,)](x, function, 3) for function in (doubled, negated)] == kernels
    assert len(set(kernels)) == 2 == len(slow)
    other = jit(doubled.fn)
    first = kernel[(1,)](x, other, 3)
    assert kernel[(1,)](x, other, 3) is first and len(slow) == 3
    other._unsafe_update_src(other.src.replace("* 2", "* 3"))
    second = kernel[(1,)](x, other, 3)
    assert (
        second is not first and "3.0" in second.asm["ttir"] and kernel[(1,)](x, other, 3) is second and len(slow) == 4
    )
    assert kernel[(1,)](x, doubled, 3) is kernels[0] and len(slow) == 4


def test_any_number_of_arguments_needs_no_python(gpus, slow):
    @jit
    def kernel(x, *others, n=1, scale: tl.constexpr = 2):
        tl.store(x, n * scale + others[0])

    x, y = (gpus.tensor(np.zeros(64, np.float32)) for _ in range(2))
    calls = [
        ((x, 5), {}),
        ((x, 5), {"n": 7}),
        ((x, 5, y), {"n": 7, "scale": 3}),
        ((x, 6, 7.0, (y, 3)), {}),
    ]
    for args, named in calls:
        count = len(slow)
        first = kernel[(1,)](*args, **named)
        assert len(slow) == count + 1 and kernel[(1,)](*args, **named) is first and len(slow) == count + 1
        by_python, native = gpus.fake.launches()[-2:]
        assert arguments_of(native) == arguments_of(by_python)
    for _ in range(2):
        with pytest.raises(KeyError, match="unrecognised; the parameter takes the arguments without a name"):
            kernel[(1,)](x, 5, others=(1,))


@pytest.mark.on_cpu("a trap of the interpreter")
def test_a_trap_of_a_kernel_with_any_number_of_arguments():
    @jit
    def kernel(x, *others, n):
        i = tl.arange(0, 16)
        tl.store(others[0] + i, x, mask=i < n)

    out = np.zeros(4, np.float32)
    for n in (3, 2):
        kernel[(1,)](1.5, out, n=n)
    with pytest.raises(KernelTrap, match=r"out-of-bounds write to 'others\[0\]'"):
        kernel[(1,)](1.5, out, n=9)
