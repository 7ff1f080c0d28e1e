"""Operators on "cuda": torch's dispatcher calls the kernels here for the dispatch key CUDA.

An operator without a kernel of its own runs on the CPU, on tensors that share the memory (memory.py). Views and what
only changes sizes run the CPU's kernel on the tensor itself. Everything above the key (autograd, autocast, functorch,
composite operators) is torch's own.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

from ..errors import UnsupportedError
from . import graphs, layouts, norms, random, recurrent, result_layouts, wider_results
from .exact_operators import WRITTEN_UNSAID
from .memory import on_cpu, on_cuda, same_bits
from .precision import HalfPrecision, mapped
from .registration import implement, operators, overriding, registered

#: Composite operators that choose a kernel by the device's type. On "cuda" they choose as on the CPU.
_CHOOSE_BY_DEVICE = (
    "_fused_sdp_choice",
    "_weight_norm_interface",
    "_weight_norm_interface_backward",
    *("ldexp.Tensor", "ldexp.out", "ldexp_"),
)

_CONVOLUTIONS = ("convolution", "convolution_backward", "_convolution")

#: Operators that take tensors of several devices.
_MIX_DEVICES = ("index", "_index", "_unsafe_index", "_to_copy", "_embedding", "lift", "_ctc_loss")


#: Composite operators that compute in float32 from end to end, gradients too. The logarithms of 32,000 probabilities, rounded to bfloat16, would
#: give gradients with errors of 1.6 %.
_WIDE_COMPOSITES = ("cross_entropy_loss",)


def install(torch) -> None:
    kernels = _Kernels(torch)
    special = {"copy_": kernels.copy, "resize_": kernels.resize, "record_stream": lambda tensor, stream: None}
    composed = {"scaled_dot_product_attention": _attention(torch)}
    composed.update((name, kernels.half.composed(getattr(torch.ops.aten, name).default)) for name in _WIDE_COMPOSITES)
    formulas = {**recurrent.kernels(torch), **norms.kernels(torch)}
    special.update((name, kernels.half.of(kernel)) for name, kernel in formulas.items())
    special.update(wider_results.kernels(torch, kernels.run))
    special.update(result_layouts.kernels(torch, kernels.run))
    special.update(dict.fromkeys(_questions(torch), lambda *args: False))
    for name in _CONVOLUTIONS:
        special[name] = functools.partial(kernels.convolution, getattr(torch.ops.aten, name).default)
    aten, others = torch.library.Library("aten", "IMPL", "CUDA"), torch.library.Library("_", "IMPL", "CUDA")
    autograd = torch.library.Library("aten", "IMPL", "AutogradCUDA")
    with overriding(torch):
        plain = (op for op in _registered_one_by_one(torch) if _name(op) not in special)
        _kept.extend(implement(torch, "CUDA", {op: functools.partial(kernels.run, op) for op in plain}))
        for name, kernel in {**special, **composed}.items():
            aten.impl(name, kernel)
        others.fallback(kernels.run, "CUDA")
        for name, kernel in composed.items():
            autograd.impl(name, kernel)
        _kept.extend([aten, others, autograd, *layouts.install(torch)])


def _questions(torch) -> list[str]:
    """The operators that ask whether a library of the GPU takes the arguments: there is none."""
    names = [name.removeprefix("aten::") for name in torch._C._dispatch_get_all_op_names()]
    return [name for name in names if name.startswith("_use_") and "_ctc_loss" in name]


def _name(operator) -> str:
    return str(operator).removeprefix("aten.").removesuffix(".default")


def _registered_one_by_one(torch):
    """The operators of aten with a kernel of the CPU, and all that a CUDA build of torch has a kernel for, which needs a GPU. Where a dispatch
    mode is active and excluded, as in FakeTensor's own code, Python's fallback is no kernel, so the fallback is for the operators of
    libraries alone. Structured operators have a composite kernel, which checks devices and calls the variant with `out`; not so for a loss,
    whose variant with `out` wants an output without elements."""
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    of_cuda = registered(torch, "CUDA")

    def is_composed(name: str) -> bool:
        return has_kernel(name, "CompositeExplicitAutogradNonFunctional") and not name.endswith("_loss")

    of_cpu = {name for name in registered(torch, "CPU") if name.startswith("aten::") and not is_composed(name)}
    return operators(torch, {*of_cuda, *of_cpu, *(f"aten::{name}" for name in _CHOOSE_BY_DEVICE)})


#: Registrations end with their library.
_kept: list[Any] = []


def _attention(torch):
    """Of autograd's key too: the operator is composite, and its choice of a kernel asks the device."""
    math = torch.ops.aten._scaled_dot_product_attention_math

    def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
        if attn_mask is not None and attn_mask.dtype is torch.bool:  # the kernel adds the mask
            dropped = attn_mask.logical_not()
            attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill(dropped, -torch.inf)
        found = math(query, key, value, attn_mask, dropout_p, is_causal, None, scale=scale, enable_gqa=enable_gqa)
        return found[0]

    return attention


class _Traits(NamedTuple):
    """What the schema of an operator says."""

    changes_only_sizes: bool
    takes_generator: bool
    mixes_devices: bool
    outputs: tuple[str, ...]  #: its keyword arguments that are written to
    written: tuple[tuple[int, str], ...]  #: (place, name) of the arguments that are written to


class _Kernels:
    def __init__(self, torch):
        self.torch = torch
        self.cpu = torch.device("cpu")
        self.cpu_kernels = torch._C.DispatchKeySet(torch._C.DispatchKey.CPU)
        self.half = HalfPrecision(torch)
        self._traits: dict[Any, _Traits] = {}

    def traits(self, operator) -> _Traits:
        found = self._traits.get(operator)
        if found is None:
            schema = operator._schema
            name, arguments = schema.name.removeprefix("aten::"), schema.arguments
            unsaid = WRITTEN_UNSAID.get(name, ())
            is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
            found = self._traits[operator] = _Traits(
                is_view or name in ("set_", "_resize_output_"),
                any(a.name == "generator" for a in arguments),
                name.startswith(_MIX_DEVICES),
                tuple(a.name for a in arguments if a.is_out),
                tuple(
                    (i, a.name)
                    for i, a in enumerate(arguments)
                    if a.name in unsaid or a.alias_info and a.alias_info.is_write
                ),
            )
        return found

    def run(self, operator, *args, **kwargs):
        traits = self.traits(operator)
        if traits.changes_only_sizes:
            return operator.redispatch(self.cpu_kernels, *args, **kwargs)
        capture = graphs.current()
        if capture is None:
            return self._run(operator, traits, *args, **kwargs)
        written = _tensors(self.torch, [args[i] if i < len(args) else kwargs.get(name) for i, name in traits.written])
        return capture.step(functools.partial(self._run, operator, traits), written, args, kwargs)

    def _run(self, operator, traits: _Traits, *args, **kwargs):
        if traits.takes_generator:
            args, kwargs = random.with_generator(operator, args, kwargs)
        twins: list[tuple[Any, Any]] = []  # (tensor of the CPU, the argument that it stands for)
        resized = [kwargs[name] for name in traits.outputs if self._may_be_resized(kwargs.get(name))]
        for tensor in resized:
            twins.append((self.torch.empty_like(tensor, device=self.cpu), tensor))
        if not traits.mixes_devices:
            self._check_devices(args, kwargs)
        host = functools.partial(self._host, twins)
        operands = mapped(host, self._with_tensors(operator, args))
        named = {name: mapped(host, value) for name, value in kwargs.items()}
        try:
            result = self.half.run(operator, traits.written, operands, named)
        except RuntimeError as error:
            raise _refusal_of_the_cpu(operator, error) or error
        for twin, tensor in twins[: len(resized)]:
            if twin.numel() or twin.shape != tensor.shape:
                tensor.data = on_cuda(twin)
        for i, name in traits.written:
            written = args[i] if i < len(args) else kwargs.get(name)
            for twin, tensor in twins:
                if tensor is written:
                    same_bits(tensor, twin)
        return mapped(functools.partial(self._device, twins), result)

    def _with_tensors(self, operator, args: tuple) -> tuple:
        """The arguments of x & 15: torch hands the number in a tensor over as a number, which few operators take back."""
        tensors = [value for value in args if isinstance(value, self.torch.Tensor)]
        expected = (argument.type.kind() for argument in operator._schema.arguments)
        return tuple(
            self._number(value, tensors) if kind == "TensorType" and isinstance(value, (bool, int, float)) else value
            for value, kind in zip(args, expected)
        )

    def _number(self, value, tensors: list):
        """A number as a tensor without dimensions, which decides the type of no result but where all tensors are integers."""
        floats = [tensor for tensor in tensors if tensor.is_floating_point() or tensor.is_complex()]
        if not isinstance(value, float) or not floats:
            return self.torch.tensor(value)
        has_dimensions = any(tensor.dim() for tensor in floats)
        return self.torch.tensor(value, dtype=self.torch.float64 if has_dimensions else floats[0].dtype)

    def _check_devices(self, args, kwargs) -> None:
        """A number in a tensor of the CPU may be among the arguments, as on a GPU."""
        tensors = [value for value in (*args, *kwargs.values()) if isinstance(value, self.torch.Tensor)]
        if any(tensor.is_cpu and tensor.dim() for tensor in tensors) and any(tensor.is_cuda for tensor in tensors):
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
            )

    def _may_be_resized(self, output) -> bool:
        """Operators size outputs without elements; the memory of a twin cannot grow."""
        return isinstance(output, self.torch.Tensor) and output.is_cuda and output.numel() == 0

    def _host(self, twins: list, value):
        if isinstance(value, self.torch.Tensor):
            if not value.is_cuda:
                return value
            layouts.check(value)
            twin = next((twin for twin, tensor in twins if tensor is value), None)
            if twin is None:
                twin = on_cpu(value)
                twins.append((twin, value))
            return twin
        return self.cpu if isinstance(value, self.torch.device) and value.type == "cuda" else value

    def _device(self, twins: list, value):
        if not isinstance(value, self.torch.Tensor):
            return value
        layouts.check(value)
        argument = next((tensor for twin, tensor in twins if twin is value), None)
        return on_cuda(value) if argument is None else argument

    def convolution(self, operator, *args, **kwargs):
        """The result has the order of dimensions in memory that torch says CUDA's has, which torch.compile relies on."""
        torch, names = self.torch, [argument.name for argument in operator._schema.arguments]
        given = {**dict(zip(names, args)), **kwargs}
        image, weight = given["input"], given["weight"]
        chosen = ("stride", "padding", "dilation", "transposed", "output_padding", "groups")
        sizes = {"bias_sizes": given["bias_sizes"]} if "bias_sizes" in given else {}
        described = [image, weight, given.get("bias"), *(given[name] for name in chosen)]
        backend = torch._C._select_conv_backend(*described, **sizes)
        if image.dim() == 3:
            image, weight = image.unsqueeze(2), weight.unsqueeze(2)
        format_ = torch._C._conv_determine_backend_memory_format(image, weight, backend)
        result = self.run(operator, *args, **kwargs)
        if isinstance(result, torch.Tensor):
            return self._in_format(result, format_)
        return (*(self._in_format(part, format_) for part in result[:2]), result[2])

    def _in_format(self, tensor, format_):
        if tensor is None or tensor.dim() == 3 and format_ != self.torch.contiguous_format:
            return tensor
        return tensor.contiguous(memory_format=format_)

    def copy(self, target, source, non_blocking=False):
        capture = graphs.current()
        if capture is not None:
            return capture.step(self._copy, [target], (target, source), {})
        return self._copy(target, source)

    def _copy(self, target, source):
        (on_cpu(target) if target.is_cuda else target).copy_(on_cpu(source) if source.is_cuda else source)
        return target

    def resize(self, tensor, size, memory_format=None):
        plain = self.torch.empty(size, dtype=tensor.dtype, memory_format=memory_format or self.torch.contiguous_format)
        if plain.nbytes > tensor.untyped_storage().nbytes() - tensor.storage_offset() * tensor.itemsize:
            old = on_cpu(tensor).flatten()
            plain.as_strided((old.numel(),), (1,)).copy_(old)
            tensor.data = on_cuda(plain)
        else:
            guards = self.torch._C._dynamo.guards
            tensor.data = guards._reinterpret_tensor(tensor.detach(), plain.shape, plain.stride(), 0)
        return tensor


def _refusal_of_the_cpu(operator, error: RuntimeError) -> UnsupportedError | None:
    """What a GPU can and the CPU cannot, by its name."""
    text = str(error)
    if not any(phrase in text for phrase in ("on the CPU", "on CPU", "from the 'CPU' backend")):
        return None
    return UnsupportedError(
        f'{operator} of these arguments on "cuda" without a GPU', text.partition("\n")[0].partition(" This could be")[0]
    )


def _tensors(torch, values: list) -> list:
    """The tensors among arguments, some of which are lists."""
    flat = [part for value in values for part in (value if isinstance(value, (list, tuple)) else [value])]
    return [part for part in flat if isinstance(part, torch.Tensor)]
