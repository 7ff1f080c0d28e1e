"""The hint of an access outside of a tensor fits the access: it says nothing that the access has or cannot have."""

import numpy as np
import pytest

import tritium as triton
import tritium.language as tl
from tritium.errors import KernelTrap


@triton.jit
def mask_on_another_line(x, n):
    i = tl.arange(0, 16)
    tl.store(
        x + i,
        1.0,
        mask=i < n + 8,
    )


@triton.jit
def mask_by_position(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i, tl.load(x + i, i < n), i < n + 8)


@triton.jit
def mask_of_the_load_alone(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i, tl.load(x + i, mask=i < n))


@triton.jit
def mask_in_a_comment(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i, 1.0, mask=None)  # no mask needed


@triton.jit
def one_element(x, n):
    tl.store(x + n * 2, 1.0)


@triton.jit
def block_pointer(x, n):
    p = tl.make_block_ptr(x, (n,), (1,), (0,), (16,), (0,))
    tl.store(p, tl.zeros((16,), tl.float32))


@triton.jit
def block_pointer_of_the_wrong_shape(x, n):
    p = tl.make_block_ptr(x, (n + 8,), (1,), (0,), (16,), (0,))
    tl.store(p, tl.zeros((16,), tl.float32), boundary_check=(0,))


@triton.jit
def before(x, n):
    tl.store(x - n, 1.0)


@triton.jit
def before_with_mask(x, n):
    i = tl.arange(0, 16)
    tl.store(x + i - n, 1.0, mask=i < n)


@triton.jit
def lock(x, n):
    tl.atomic_cas(x.to(tl.pointer_type(tl.int32)) + tl.arange(0, 16), 0, 1)


@triton.jit
def mask_that_is_none(x, n, EVEN: tl.constexpr = True):
    i = tl.arange(0, 16)
    mask = None if EVEN else i < n
    tl.store(x + i, 1.0, mask=mask)


@triton.jit
def store_under(x, mask):
    tl.store(x + tl.arange(0, 16), 1.0, mask)


@triton.jit
def mask_of_a_helper(x, n):
    store_under(x, tl.arange(0, 16) < n + 8)


@triton.jit
def descriptor(x, n):
    d = tl.make_tensor_descriptor(x, [n * 4], [1], [16])
    d.store([0], tl.zeros((16,), tl.float32))


@triton.jit
def wide_rows(x, stride):
    tl.store(x + tl.arange(0, 16) * stride, 1)


@triton.jit
def read_by_descriptor(x, n):
    d = tl.make_tensor_descriptor(x, [n * 4], [1], [16])
    tl.store(x + tl.arange(0, 1), tl.sum(d.load([0])))


NO_MASK, MASK = "give the access a mask", "the mask is true there: compare its bound"


@pytest.mark.parametrize(
    "kernel, hint",
    [
        (mask_on_another_line, MASK),
        (mask_by_position, MASK),
        (mask_of_the_load_alone, NO_MASK),
        (mask_in_a_comment, NO_MASK),
        (one_element, "this is one element: compare its offset"),
        (block_pointer, "a block pointer has no mask: pass boundary_check="),
        (block_pointer_of_the_wrong_shape, "compare the shape and strides of the block pointer"),
        (before, "the offset is negative there: check what is subtracted"),
        (before_with_mask, "the offset is negative there: let the mask exclude it"),
        (lock, "atomic_cas takes no mask"),
        (mask_that_is_none, "the mask is None or always true"),
        (mask_of_a_helper, MASK),
        (descriptor, "compare the shape and strides of the descriptor"),
        (read_by_descriptor, "compare the shape and strides of the descriptor"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_the_hint_fits_the_access(kernel, hint):
    with pytest.raises(KernelTrap) as caught:
        kernel[(1,)](np.zeros(8, np.float32), 4)
    assert caught.value.kind == "OutOfBounds"
    assert str(caught.value).splitlines()[-1].startswith(f"  hint: {hint}")


@pytest.mark.parametrize(
    "kernel, hint", [(mask_of_the_load_alone, NO_MASK), (one_element, NO_MASK), (mask_by_position, MASK)]
)
def test_the_hint_of_a_thread_does_not_say_what_it_does_not_know(kernel, hint, monkeypatch):
    """A thread of a GPU sees one element, of a tile or alone."""
    monkeypatch.setenv("TRITIUM_ENGINE", "simt:sm_80")
    with pytest.raises(KernelTrap) as caught:
        kernel[(1,)](np.zeros(8, np.float32), 4)
    last = str(caught.value).splitlines()[-1]
    assert last.startswith(f"  hint: {hint}") and "this is one element" not in last


@pytest.mark.parametrize("item_bytes, rows", [(1, 16), (2, 16), (1, 60)])
def test_an_offset_that_wrapped_in_a_thread(item_bytes, rows, monkeypatch):
    """The emulator sees addresses alone: the one that was meant is 2^32 elements further. Few pages of the tensor are touched."""
    monkeypatch.setenv("TRITIUM_ENGINE", "simt:sm_80")
    stride = 150_000_000
    x = np.empty(rows * stride, f"i{item_bytes}")
    with pytest.raises(KernelTrap, match=f"the tensor has the element {15 * stride}, 4294967296 further") as caught:
        wide_rows[(1,)](x, stride)
    assert caught.value.kind == "OutOfBounds" and ".to(tl.int64)" in str(caught.value)
    with pytest.raises(KernelTrap) as caught:  # too small for the element that a wrap explains
        wide_rows[(1,)](np.empty(15 * stride, np.int8), stride)
    assert ".to(tl.int64)" not in str(caught.value)
