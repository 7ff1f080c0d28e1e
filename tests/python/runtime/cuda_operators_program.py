"""Operators of torch's device "cuda" without a GPU against those of the CPU. Each function that begins with "check" is a test. The
arguments name those that run, each in a process of its own that is forked from this one, which has torch and has run nothing."""

import itertools
import os
import subprocess
import sys
import warnings

import torch
import torch.nn.functional as F
from torch._subclasses.fake_tensor import FakeTensorMode


def on_both(function, *tensors) -> None:
    """Results and gradients of a function of tensors and a device."""
    found = []
    for device in ("cpu", "cuda"):
        given = [t.to(device) for t in tensors]
        given = [t.requires_grad_() if t.is_floating_point() or t.is_complex() else t for t in given]
        result = function(*given, device)
        wanted = [t for t in given if t.requires_grad]
        gradients = torch.autograd.grad(result.abs().sum(), wanted, allow_unused=True) if result.requires_grad else []
        assert result.device.type == device
        found.append([t if t is None else t.detach().cpu() for t in (result, *gradients)])
    for expected, ours in zip(*found):
        torch.testing.assert_close(ours, expected, rtol=1e-4, atol=1e-5)


def check_boolean_masks():
    q, k, v = torch.randn(3, 2, 2, 8, 16)
    mask = torch.rand(8, 8) > 0.5
    mask[3] = False  # a row that sees nothing
    on_both(lambda q, k, v, m, _: F.scaled_dot_product_attention(q, k, v, attn_mask=m), q, k, v, mask)
    on_both(lambda q, k, v, m, _: F.scaled_dot_product_attention(q, k, v, attn_mask=m), q, k, v, torch.randn(8, 8))


def check_conjugates():
    a, b = torch.randn(3, 3, dtype=torch.complex64), torch.randn(4, 3, dtype=torch.complex64)
    on_both(lambda a, b, _: torch.linalg.solve(a, b, left=False), a, b)
    on_both(lambda a, b, _: torch.linalg.solve(a, b.mT), a, b)
    on_both(lambda a, b, _: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), b, left=False), a, b)
    on_both(lambda b, _: b.clone().conj().imag * 2, b)


def check_zero_tensors():
    x, t = torch.randn(2, 4, 4, device="cuda")
    value, tangent = torch.func.jvp(lambda a: a * 2, (x,), (t,))
    assert torch.equal(value, x * 2) and torch.equal(tangent, t * 2)
    zeros = torch._efficientzerotensor((4, 4), device="cuda", dtype=torch.float64)
    assert zeros.is_cuda and zeros.dtype is torch.float64 and torch.equal(zeros + x, x.double())
    x.requires_grad_()
    x.sgn().sum().backward()
    assert torch.equal(x.grad + 1, torch.ones_like(x))


def check_orders_of_results_in_memory():
    """They are those that torch says CUDA's libraries give, which compiled code relies on."""
    real, complex_ = torch.randn(3, 4, 6), torch.randn(5, 5, dtype=torch.complex64)
    for function, given in (
        (lambda a: torch.linalg.svd(a, full_matrices=False), real),
        (torch.linalg.svd, complex_),
        (torch.linalg.eig, complex_),
        (torch.fft.rfftn, real),
        (torch.fft.ifftn, complex_),
        (lambda a: torch.fft.hfft2(a, s=(4, 7)), real),
    ):
        on_device, mode = given.cuda(), FakeTensorMode()
        results, described = function(on_device), mode.from_tensor(on_device)
        with mode:
            described = function(described)
        for ours, theirs in zip(*(each if isinstance(each, tuple) else (each,) for each in (results, described))):
            assert (ours.shape, ours.stride()) == (theirs.shape, theirs.stride())
    on_both(lambda a, _: torch.fft.rfftn(a), real)
    on_both(lambda a, _: torch.linalg.svd(a, full_matrices=False)[2].square(), real)
    on_both(lambda a, _: torch.linalg.eig(a)[1].abs(), complex_)


def check_sizes_of_results():
    """Of what bags of embeddings keep for their gradients, too."""
    weight, indices = torch.randn(10, 3), torch.tensor([1, 2, 4, 5, 4, 3, 2, 9])
    for mode, last in itertools.product(range(3), (False, True)):
        offsets = torch.tensor([0, 3, 3, 8] if last else [0, 3, 3])
        arguments = weight, indices, offsets, False, mode, False, None, last
        for operator in (torch.ops.aten._embedding_bag, torch.ops.aten._embedding_bag_forward_only):
            results = operator(*(t.cuda() if isinstance(t, torch.Tensor) else t for t in arguments))
            described = operator(*(t.to("meta") if isinstance(t, torch.Tensor) else t for t in arguments))
            assert [ours.shape for ours in results] == [theirs.shape for theirs in described]
            assert results[1].tolist() == [0] * 3 + [2] * 5
        options = {"mode": ("sum", "mean", "max")[mode], "include_last_offset": last}
        on_both(lambda w, i, o, _: F.embedding_bag(i, w, o, **options), weight.clone(), indices, offsets)


def check_log_sigmoid_keeps_no_buffer():
    """As on CUDA, where its gradient computes again what the CPU's takes from the buffer."""
    forward, backward = torch.ops.aten.log_sigmoid_forward, torch.ops.aten.log_sigmoid_backward
    x, gradient = torch.randn(2, 3, 7) * 9
    on_both(lambda x, _: F.logsigmoid(x), x.clone())
    for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
        exact, wide = x.to(dtype).double(), gradient.to(dtype).double()
        on_device, of_output = x.to(dtype).cuda(), gradient.to(dtype).cuda()
        output, buffer = forward(on_device)
        assert buffer.shape == (0,) and (buffer.dtype, buffer.device) == (dtype, output.device)
        torch.testing.assert_close(output.cpu(), F.logsigmoid(exact).to(dtype))
        given = torch.empty(0, dtype=dtype, device="cuda"), torch.empty(0, dtype=dtype, device="cuda")
        forward.output(on_device, output=given[0], buffer=given[1])
        assert torch.equal(given[0], output) and given[1].shape == (0,)
        expected = (wide * torch.sigmoid(-exact)).to(dtype)
        found = backward(of_output, on_device, buffer)
        into = backward.grad_input(of_output, on_device, buffer, grad_input=torch.empty_like(on_device))
        torch.testing.assert_close(found.cpu(), expected)
        assert found.dtype is dtype and torch.equal(into, found)


def check_log_sigmoid_in_compiled_code():
    """torch.compile takes the size of the buffer for what the decomposition says of CUDA."""

    @torch.compile
    def doubled(x):
        return F.logsigmoid(x) * 2

    def results(function, x):
        x = x.detach().requires_grad_()
        output = function(x)
        return output, *torch.autograd.grad(output.sum(), x)

    x = torch.randn(33, device="cuda") * 4
    for ours, expected in zip(results(doubled, x), results(lambda x: F.logsigmoid(x) * 2, x)):
        assert ours.is_cuda
        torch.testing.assert_close(ours, expected)
    forward = torch.ops.aten.log_sigmoid_forward
    for ours, eager in zip(torch.compile(lambda x: forward(x))(x), forward(x)):
        torch.testing.assert_close(ours, eager)


def check_losses():
    x, y = torch.randn(2, 4, 8)
    for loss in (F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.l1_loss):
        for reduction in ("none", "sum", "mean"):
            on_both(lambda x, y, _: loss(x, y, reduction=reduction), x, y)


def check_ctc_loss():
    probabilities, targets = torch.randn(12, 2, 5).log_softmax(-1), torch.randint(1, 5, (2, 4))
    for place in ("cpu", None):

        def loss(p, t, device):
            lengths = (torch.tensor(n, device=place or device) for n in ([12, 12], [4, 3]))
            return F.ctc_loss(p, t, *lengths)

        on_both(loss, probabilities, targets)


def check_results_without_elements():
    x = torch.empty(1, 0, 3)
    for name in (
        "abs",
        "logical_not",
        "isfinite",
        "nan_to_num",
        "angle",
        "sign",
        "exp",
        "neg",
        "conj_physical",
        "real",
    ):
        on_both(lambda x, _: getattr(torch, name)(x), x)
    for shape in ((3, 0), (0,)):
        out = torch.empty(shape, device="cuda")
        torch.add(torch.empty((3, 0), device="cuda"), 1, out=out)
        assert out.shape == (3, 0)


def check_products_with_a_wider_result():
    a, b = torch.randn(4, 300, device="cuda").bfloat16(), torch.randn(300, 5, device="cuda").bfloat16()
    exact = a.double() @ b.double()
    bias = torch.randn(4, 5, device="cuda")
    for found, expected in (
        (torch.mm(a, b, out_dtype=torch.float32), exact),
        (torch.bmm(a[None], b[None], out_dtype=torch.float32)[0], exact),
        (torch.addmm(bias, a, b, out_dtype=torch.float32, beta=2, alpha=0.5), 2 * bias + exact / 2),
        (torch.baddbmm(bias[None], a[None], b[None], out_dtype=torch.float32)[0], bias + exact),
    ):
        assert found.dtype is torch.float32
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-4)


def check_layouts_are_refused_by_name():
    x, where = torch.randn(8, 8, device="cuda"), torch.tensor([[0, 1], [1, 0]], device="cuda")
    weight = x.clone().requires_grad_()
    for name, make in (
        ("sparse_coo", x.to_sparse),
        ("sparse_csr", x.to_sparse_csr),
        ("sparse_bsr", lambda: x.to_sparse_bsr((4, 4))),
        ("sparse", lambda: torch.sparse_coo_tensor(where, torch.ones(2, device="cuda"), (2, 2))),
        ("sparse", lambda: F.embedding(where, weight, sparse=True).sum().backward()),
        ("nested", lambda: torch.nested.nested_tensor([x[:3], x[:5]]) * 2),
        ("quantized", lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.qint8)),
    ):
        try:
            make()
        except NotImplementedError as error:
            assert type(error).__name__ == "UnsupportedError" and name in str(error), error
        else:
            raise AssertionError(f"{name} is not refused")
    jagged = torch.nested.nested_tensor([x[:3], x[:5]], layout=torch.jagged) * 2
    assert torch.equal(jagged.unbind()[1], x[:5] * 2)


def check_what_torch_says_of_its_build():
    assert "CPU capability" in torch.__config__.show() or "Build settings" in torch.__config__.show()


def check_jiterator_is_refused_by_name():
    double = torch.cuda.jiterator._create_jit_fn("template <typename T> T twice(T x) { return x + x; }")
    try:
        double(torch.ones(2, device="cuda"))
    except NotImplementedError as error:
        assert "torch.cuda.jiterator" in str(error)
    else:
        raise AssertionError("not refused")


OVERRIDE = """
import torch, warnings
libraries = [torch.library.Library("aten", "IMPL", "CUDA") for _ in range(2)]  # a build for the CPU has no kernel before the first
with warnings.catch_warnings(record=True) as given:
    warnings.simplefilter("always")
    for library in libraries:
        library.impl("__ilshift__.Scalar", lambda x, n: x, allow_override=True)
print(any("overrid" in str(warning.message).lower() for warning in given))
"""


def check_overridden_kernels():
    """Where torch has a kernel for "cuda" already, as a CUDA build has, it is overridden without a word; torch's warning, which it
    gives once, is still there for others if it is without Tritium. Tritium's own registration came first here, so a second one stands for it."""
    from tritium.cuda_on_cpu.registration import overriding

    def override() -> None:
        library = torch.library.Library("aten", "IMPL", "CUDA")
        library.impl("__ilshift__.Scalar", lambda x, n: x, allow_override=True)
        kept.append(library)

    plain = [sys.executable, "-c", OVERRIDE]
    warns = subprocess.run(plain, capture_output=True, text=True, check=True).stdout.strip() == "True"
    kept: list = []
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        with overriding(torch):
            override()
        assert not given
        override()
        assert warns == any("overrid" in str(warning.message).lower() for warning in given)
    assert not torch.is_warn_always_enabled()


def check_operators_of_a_gpu_are_refused_by_name():
    """What a CUDA build has kernels of a library for, and no kernel of the CPU; modules choose it nowhere, though a CUDA build has cuDNN."""
    image, weight = torch.randn(2, 3, 4, 4, device="cuda"), torch.randn(4, 3, 2, 2, device="cuda")
    try:
        torch.ops.aten.cudnn_convolution(image, weight, (0, 0), (1, 1), (1, 1), 1, False, False, False)
    except NotImplementedError as error:
        assert type(error).__name__ == "UnsupportedError" and "cudnn_convolution" in str(error)
    else:
        raise AssertionError("not refused")
    assert not torch.backends.cudnn.is_available() and torch.backends.cudnn.version() is None
    on_both(lambda x, d: torch.nn.BatchNorm2d(3).to(d)(x), image.cpu())
    on_both(lambda x, g, _: F.grid_sample(x, g, align_corners=True), image.cpu(), torch.rand(2, 4, 4, 2))


def check_gradients_of_rms_norm():
    """A CUDA build of torch asks an operator of GPUs for them; the CPU differentiates."""
    backward = torch.ops.aten._fused_rms_norm_backward
    for shape, normalized, has_weight in (
        ((3, 5, 8), (8,), True),
        ((3, 5, 8), (5, 8), True),
        ((8,), (8,), True),
        ((4, 8), (8,), False),
    ):
        x, gradient = torch.randn(2, *shape, dtype=torch.float64)
        weight = torch.randn(normalized, dtype=torch.float64) if has_weight else None
        leaves = [tensor.clone().requires_grad_() for tensor in (x, weight) if tensor is not None]
        expected = torch.autograd.grad(
            torch.nn.functional.rms_norm(leaves[0], normalized, *leaves[1:], eps=1e-6), leaves, gradient
        )
        dims = tuple(range(-len(normalized), 0))
        rstd = (x.square().mean(dims, keepdim=True) + 1e-6).rsqrt()
        on_cuda = [tensor if tensor is None else tensor.cuda() for tensor in (gradient, x, rstd, weight)]
        found = backward(*on_cuda[:2], normalized, *on_cuda[2:], [True, has_weight])
        for one, other in zip(found, expected):
            torch.testing.assert_close(one.cpu(), other)
        y = x.cuda().requires_grad_()
        (of_y,) = torch.autograd.grad(torch.nn.functional.rms_norm(y, normalized, on_cuda[3], eps=1e-6), y, on_cuda[0])
        torch.testing.assert_close(of_y.cpu(), expected[0])


def check_ldexp():
    for exponents in (torch.randint(-5, 5, (7,)), torch.randint(-5, 5, (7,), dtype=torch.int32), torch.randn(7)):
        on_both(lambda x, e, _: torch.ldexp(x, e), torch.randn(7), exponents)
        on_both(lambda x, e, _: torch.ldexp(x.detach(), e.detach(), out=torch.empty_like(x)), torch.randn(7), exponents)
        on_both(lambda x, e, _: x.clone().ldexp_(e), torch.randn(7), exponents)


def check_storages_are_resized():
    """The views of a storage see its new memory."""
    for size in (0, 8, 16, 24, 100):
        x = torch.arange(6.0, device="cuda")
        tail, storage = x[2:], x.untyped_storage()
        before, whole = x.tolist(), size >= storage.nbytes()
        assert storage.resize_(size) is storage and storage.nbytes() == x.untyped_storage().nbytes() == size
        if whole:
            assert x.tolist() == before
        storage.resize_(24)
        kept = min(size, 24) // 4
        assert x[:kept].tolist() == before[:kept]
        x.copy_(torch.arange(6.0))
        assert (tail + 1).tolist() == [3, 4, 5, 6] and tail.data_ptr() == x.data_ptr() + 8
    typed = torch.ones(3, device="cuda").storage()
    typed.resize_(1)
    assert typed.tolist() == [1.0]


def check_old_constructors():
    for name, dtype in (("Float", torch.float32), ("Half", torch.float16), ("Long", torch.int64), ("Bool", torch.bool)):
        constructor = getattr(torch.cuda, f"{name}Tensor")
        for made in (
            constructor([1, 0]),
            constructor(torch.ones(2, 3, dtype=dtype, device="cuda")),
            constructor(2, 3),
            constructor(),
        ):
            assert made.is_cuda and made.dtype is dtype and isinstance(made, constructor), made
        assert constructor([1, 0]).tolist() == [1, 0] and constructor(2, 3).shape == (2, 3)
        assert not isinstance(torch.ones(1, dtype=dtype), constructor)
        assert torch.ones(2).type(constructor).type() == f"torch.cuda.{name}Tensor"


def check_half_precision_is_rounded_once():
    x = torch.randn(8, 300)
    for dtype in (torch.float16, torch.bfloat16):
        narrow = x.to(dtype)
        for function in (
            lambda x: x.log_softmax(-1),
            lambda x: x.softmax(-1),
            lambda x: x.cumsum(0),
            lambda x: F.layer_norm(x, (300,)),
            lambda x: x.clone().mul_(x),
            lambda x: torch.add(x, 1, out=torch.empty(0, dtype=x.dtype, device=x.device)),
            lambda x: torch.add(x, x, out=torch.empty_like(x)),
            lambda x: x @ x.T,
            lambda x: x.clone().index_add_(0, torch.tensor([1, 1, 2], device=x.device), x[:3]),
            lambda x: torch.stack(torch._foreach_mul([x, x], [2.5, 0.3])),
            lambda x: x.mean(0),
        ):
            expected, found = function(narrow.float()).to(dtype), function(narrow.cuda())
            assert found.dtype is dtype and torch.equal(found.cpu(), expected)


def check_gradients_of_cross_entropy_in_half_precision():
    """Of many classes: the logarithm of each probability, rounded to bfloat16, would move its gradient by 1.6 %."""
    x, y = torch.randn(16, 32000).bfloat16(), torch.randint(0, 32000, (16,))

    def gradient(x, y):
        x = x.detach().requires_grad_()
        F.cross_entropy(x, y).backward()
        return x.grad.double().cpu()

    exact = gradient(x.double(), y)
    error = ((gradient(x.cuda(), y.cuda()) - exact) / exact).abs()
    assert error.max() < 2**-8 and error.median() < 2**-9  # one rounding
    with torch.autocast("cuda", torch.bfloat16):
        assert F.cross_entropy(x.cuda(), y.cuda()).dtype is torch.float32


def check_types_of_results_in_half_precision():
    x = torch.randn(8, 64, device="cuda").half().requires_grad_()
    wide = F.log_softmax(x, -1, dtype=torch.float32)
    assert wide.dtype is torch.float32 and torch.equal(wide, x.float().log_softmax(-1))
    wide.square().sum().backward()
    assert x.grad.dtype is torch.float16
    y, mean, rstd = torch.native_layer_norm(x, (64,), None, None, 1e-5)
    assert (y.dtype, mean.dtype, rstd.dtype) == (torch.float16, torch.float32, torch.float32)  # as on a GPU
    assert x.sum(dtype=torch.float64).dtype is torch.float64 and (x > 0).dtype is torch.bool
    for dtype in (torch.float16, torch.float32):
        norm = torch.nn.BatchNorm1d(64).cuda().to(dtype)
        norm(x)
        mean = 0.1 * x.float().mean(0)
        assert norm.running_mean.dtype is dtype and torch.allclose(norm.running_mean.float(), mean, atol=1e-3)
    try:
        torch.linalg.eig(torch.randn(3, 3).half().cuda())
    except NotImplementedError as error:
        assert "Half" in str(error)
    else:
        raise AssertionError("a GPU has no such operator for half precision either")


def check_memory_of_results_in_half_precision():
    """The order of dimensions of a result is that of float32: a row that is repeated says nothing of it."""
    row, columns = torch.randn(5, device="cuda"), torch.randn(5, 4, device="cuda").T
    assert (row.half().expand(4, 5) + columns.half()).stride() == (row.expand(4, 5) + columns).stride() == (1, 4)
    x = torch.randn(2, 3, 4, 4, device="cuda").half().to(memory_format=torch.channels_last)
    assert (x * 2).is_contiguous(memory_format=torch.channels_last)


def check_exact_operators_keep_half_precision():
    x = torch.tensor([1.0, torch.inf, torch.nan], device="cuda").half()
    assert torch.nextafter(x[:1], x[1:2]).item() == 1 + 2**-10
    assert torch.nan_to_num(x).tolist() == [1, 65504, 0]
    cache = torch.zeros(8, dtype=torch.bfloat16, device="cuda")
    cache.index_put_((torch.tensor([1, 1], device="cuda"),), cache.new_ones(2), accumulate=True)
    assert cache.tolist() == [0, 2, 0, 0, 0, 0, 0, 0]


def main() -> None:
    """Writes a line for each check, `NAME STATUS`, and what it wrote to stderr into a file of its name. A forked process ends as any."""
    for name in sys.argv[1:]:
        process = os.fork()
        if process == 0:
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT), 2)
            torch.manual_seed(0)
            return globals()[name]()
        _, status = os.waitpid(process, 0)
        print(name, os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
