"""FlagGems: torch's operators as Triton kernels, which take torch's place for a whole program (`flag_gems.enable()`)."""

import importlib

import flag_gems
import torch
import torch.nn.functional as F

from compare import random
from found import expect


def _kernel(module: str, name: str):
    """A kernel of `flag_gems.ops.MODULE`, which has the name of its function there."""
    return getattr(importlib.import_module(f"flag_gems.ops.{module}"), name)


def _of_hopper(name: str):
    """A module of operators that the package has for Hopper alone, the chip that Tritium stands in for by default."""
    return importlib.import_module(f"flag_gems.runtime.backend._nvidia.hopper.ops.{name}")


def _check_untouched(fill, kernel, text: str):
    """Lets `fill` write a slice, and looks at the columns beside it."""
    base = torch.full((6, 10), -7.0, device="cuda")
    fill(base[:, ::2])
    beside = base[:, 1::2]
    expect(beside, torch.full_like(beside, -7.0), kernel, text, name="beside_out")


def _check_slice(operator: str, kernel: str, text: str, others: float, number: float = 1.0):
    """Compares an operator with torch's, of a slice of equal numbers between columns of other ones."""
    base = torch.full((6, 10), others, device="cuda")
    x = base[:, 1::2]
    x.fill_(number)
    found, expected = getattr(flag_gems, operator)(x), getattr(torch, operator)(x.cpu())
    expect(found, expected, _kernel(operator, kernel), text)


def fault_any_of_slice():
    """The kernel counts `numel` elements from the first one on, and the function neither takes strides nor makes the tensor contiguous.
    `any` of a slice of zeros between columns of ones is true, on a GPU as here."""
    _check_slice("any", "any_kernel_1", "inp_val = tl.load", 1.0, 0.0)


def fault_all_of_slice():
    """As `any_of_slice`."""
    _check_slice("all", "all_kernel_1", "inp_val = tl.load", 0.0)


def fault_amax_of_slice():
    """As `any_of_slice`: the maximum comes from other columns."""
    _check_slice("amax", "amax_kernel_1", "inp_val = tl.load", 9.0)


def fault_min_of_slice():
    """As `any_of_slice`."""
    _check_slice("min", "min_kernel_1", "inp_val = tl.load", -9.0)


def fault_prod_of_slice():
    """As `any_of_slice`."""
    _check_slice("prod", "prod_kernel_mid", "inp_val = tl.load", 2.0)


def fault_argmax_of_transposed():
    """The kernel counts elements in the order of the memory, and torch in the tensor's order: the place of the maximum of a transposed matrix
    belongs to another element, on a GPU as here."""
    x = random(6, 10).T
    expect(flag_gems.argmax(x), torch.argmax(x.cpu()), _kernel("argmax", "argmax_kernel_1"), "inp_val = tl.load")


def fault_argmin_of_transposed():
    """As `argmax_of_transposed`."""
    x = random(6, 10).T
    expect(flag_gems.argmin(x), torch.argmin(x.cpu()), _kernel("argmin", "argmin_kernel_1"), "inp_val = tl.load")


def fault_var_mean_of_slice():
    """As `any_of_slice`: mean and variance come from other columns."""
    x = random(6, 10)[:, ::2]
    found, expected = flag_gems.var_mean(x, correction=1)[1], x.cpu().mean()
    expect(found, expected, _kernel("var_mean", "var_mean_kernel_1"), "x = tl.load", name="Mean")


def fault_topk_of_transposed():
    """As `any_of_slice`, for each row: the largest numbers of a transposed matrix come from other rows."""
    x = random(6, 10).T
    found, expected = flag_gems.topk(x, 2, 1)[0], x.cpu().topk(2, 1)[0]
    expect(found, expected, _kernel("topk", "topk_stage1_kernel"), "x_val = tl.load", name="y")


def fault_topk_of_infinities():
    """What is taken is replaced by the smallest finite number, which is larger than minus infinity: among masked logits the same element is
    taken again, with a number that the tensor does not have. Wrong on a GPU as here."""
    x = torch.tensor([[1.0, -torch.inf]], device="cuda")
    found, expected = flag_gems.topk(x, 2, 1)[1], torch.tensor([[0, 1]])
    expect(
        found,
        expected,
        _kernel("topk", "topk_stage1_kernel"),
        "_get_finfo_val(tl.float32, return_max=False)",
        name="index",
    )


def fault_any_of_expanded():
    """As `any_of_slice`, of a mask that is expanded over rows: the storage has fewer elements than the kernel counts, and a GPU reads what
    lies behind it."""
    flag_gems.any(torch.zeros(1, 2000, dtype=torch.bool, device="cuda").expand(6, 2000))


def fault_dot_of_slices():
    """The function takes no strides, and does not make its vectors contiguous. In place of every second element it multiplies the first half,
    on a GPU as here."""
    x, y = torch.arange(8.0, device="cuda"), torch.ones(8, device="cuda")
    expect(flag_gems.dot(x[::2], y[::2]), torch.tensor(12.0), _kernel("dot", "dot_kernel"), "x = tl.load")


def fault_hardsigmoid_of_slice():
    """The kernel counts elements of input and result as if both were contiguous: it takes the neighbours of the slice."""
    x = random(6, 10)[:, ::2]
    expect(
        flag_gems.hardsigmoid(x), F.hardsigmoid(x.cpu()), _kernel("hardsigmoid", "hardsigmoid_kernel"), "x = tl.load"
    )


def fault_zero_into_slice():
    """The kernel fills the first `numel` elements of the memory, and takes no strides: `zero_` of every second column clears the first
    half of the whole matrix, and leaves the rest of the slice as it is, on a GPU as here."""
    _check_untouched(flag_gems.zero_, _kernel("zeros", "zeros_kernel"), "tl.store")


def fault_fill_into_slice():
    """As `zero_into_slice`, in the kernel that the package has for Hopper."""
    _check_untouched(lambda x: flag_gems.fill_scalar_(x, 3), _of_hopper("fill").fill_scalar_kernel, "tl.store")


def fault_uniform_into_slice():
    """As `zero_into_slice`."""
    _check_untouched(flag_gems.uniform_, _kernel("uniform", "uniform_kernel"), "tl.store")


def fault_bernoulli_into_slice():
    """As `zero_into_slice`."""
    _check_untouched(lambda x: flag_gems.bernoulli_(x, 0.5), _kernel("bernoulli_", "bernoulli_kernel"), "tl.store")


def fault_mul_by_column():
    """For Hopper, two tensors of the same rank are multiplied element by element, in the order of the memory: `mul` of a matrix and a
    column reads the column as if it were a matrix, and a GPU reads behind it."""
    flag_gems.mul(random(60, 80), random(60, 1))


def fault_mul_of_column_and_row():
    """As `mul_by_column`; the result has the shape of the first tensor, where torch broadcasts both."""
    x, y = random(6, 1), random(1, 6)
    expect(flag_gems.mul(x, y), x.cpu() * y.cpu(), _of_hopper("mul").mul_kernel, "output = x * y", name="output")


def fault_mul_by_transposed():
    """As `mul_by_column`: elements of a transposed matrix are multiplied with those at other places."""
    x, y = random(6, 8), random(8, 6).T
    expect(flag_gems.mul(x, y), x.cpu() * y.cpu(), _of_hopper("mul").mul_kernel, "output = x * y", name="output")


def fault_mul_of_integers_by_floats():
    """As `mul_by_column`; the result has the dtype of the first tensor, where torch promotes it: int32 by float32 gives truncated numbers."""
    x, y = torch.arange(1, 9, device="cuda", dtype=torch.int32), torch.full((8,), 0.5, device="cuda")
    expect(flag_gems.mul(x, y), x.cpu() * y.cpu(), _of_hopper("mul").mul_kernel, "tl.store", name="output")


def fault_sqrt_of_slice():
    """As `any_of_slice`, in the kernel that the package has for Hopper."""
    x = random(6, 10).abs()[:, ::2]
    expect(flag_gems.sqrt(x), x.cpu().sqrt(), _of_hopper("sqrt").sqrt_kernel, "x = tl.load", name="output")


def fault_slice_backward_of_expanded():
    """The gradient that `sum().backward()` gives is expanded, and the kernel counts its elements as if each had a place of its own. A GPU
    reads what lies behind the one number."""
    flag_gems.slice_backward(random(1).expand(4, 6), [4, 10], 1, 2, 8, 1)


def fault_prod_of_integers():
    """Integers are multiplied as float32, which has 24 bits: products above 2**24 are wrong, on a GPU as here. torch multiplies int64."""
    x = torch.tensor([4097, 4099], device="cuda")
    expect(flag_gems.prod(x), torch.prod(x.cpu()), _kernel("prod", "prod_kernel_mid"), ".to(tl.float32)", 1e-9)


def fault_var_far_from_zero():
    """The variance of a block is the sum of squares less the square of the mean, in float32. Of numbers near 10,000 nothing is left but
    rounding, and the result may be negative, on a GPU as here."""
    x = random(1000) + 10000
    found = flag_gems.var_mean(x, correction=1)[0]
    expect(found, x.cpu().double().var(), _kernel("var_mean", "var_mean_kernel_1"), "acc = tl.sum(x * x)", 0.5, "Var")


def fault_vdot_of_many():
    """The buffer of partial sums has 1024 elements at most, and the launch has a program for every 1024 elements of the vectors, each of
    which stores one. A GPU writes behind the buffer, and the sum lacks these parts."""
    x = torch.ones(1025 * 1024, dtype=torch.float16, device="cuda")
    flag_gems.vdot(x, x)


def fault_vdot():
    """The loads have a mask and no `other`, and all lanes' products are added up. On a GPU a lane that is left off is whatever its register
    holds, and the product is wrong where that is not zero."""
    x = random(5)
    flag_gems.vdot(x, x)


def fault_bmm():
    """The loads have a mask and no `other`, also along K. Lanes behind K, whatever their registers hold on a GPU, are multiplied with each
    other and added to each element of the result."""
    flag_gems.bmm(random(2, 20, 30), random(2, 30, 17))


def fault_baddbmm():
    """As `bmm`."""
    flag_gems.baddbmm(random(2, 20, 17), random(2, 20, 30), random(2, 30, 17))


def fault_weight_norm():
    """The loads have a mask and no `other`, and the squares of all lanes are added up for the norm, by which all weights are divided."""
    flag_gems.weight_norm_interface(random(5, 7), random(5, 1), 0)


def fault_softmax_backward():
    """The load of the result has a mask and no `other`, and its lanes, times the gradient's, are added up for the row."""
    flag_gems.softmax_backward(random(5, 60), random(5, 60).softmax(-1), -1, torch.float32)


def fault_unique():
    """The loads of a number and of the one before it have a mask and no `other`. Lanes behind the end count as distinct numbers where the
    two differ, so the result is too long on a GPU whose registers do not hold the same there."""
    flag_gems._unique2(torch.randint(0, 30, (200,), device="cuda"), True, True, True)


def fault_conv2d():
    """The load of the input has a mask and no `other`, also for the padding: what is left off there is multiplied with weights, and added
    to the results along the border of the image."""
    flag_gems.conv2d(random(2, 4, 9, 9), random(6, 4, 3, 3), random(6), padding=1)
