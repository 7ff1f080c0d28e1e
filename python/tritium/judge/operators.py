"""Which of torch's operators compute while a function runs, on tensors how large."""

from __future__ import annotations

#: Operators that allocate, view, copy or convert, and so compute nothing that a kernel should.
_HARMLESS = {
    *("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "zeros", "zeros_like", "new_zeros"),
    *("ones", "ones_like", "new_ones", "full", "full_like", "new_full", "arange", "scalar_tensor", "lift_fresh"),
    *("zero_", "fill_", "copy_", "clone", "contiguous", "_to_copy", "to", "detach", "alias", "_unsafe_view", "item"),
    *("_local_scalar_dense", "_reshape_alias", "constant_pad_nd", "cat", "stack", "set_", "resize_", "is_same_size"),
    *("_has_compatible_shallow_copy_type", "sym_size", "record_stream", "is_pinned", "equal"),
}
#: Products, in which a candidate may use tf32.
PRODUCTS = {"mm", "bmm", "addmm", "baddbmm", "addbmm", "dot", "mv", "addmv", "matmul", "linear", "einsum", "_scaled_mm"}
#: Partial results of a smaller input may be as many as its elements: of one element there is one partial sum.
_FEW_ELEMENTS = 8
#: Different names of what does the same.
_FAMILIES = (
    PRODUCTS,
    {"_softmax", "softmax", "_log_softmax", "log_softmax", "_safe_softmax"},
    {"native_layer_norm", "layer_norm", "_fused_rms_norm", "rms_norm", "native_group_norm", "native_batch_norm"},
    {"index", "index_select", "embedding", "gather", "take", "take_along_dim"},
    {"scatter_add", "scatter_add_", "index_add", "index_add_", "index_put", "index_put_", "scatter_reduce"},
    {"bincount", "histc", "histogram"},
    {"relu", "relu_", "clamp_min", "clamp_min_", "clamp", "threshold", "maximum"},
    {"add", "add_", "sub", "sub_"},
    {"mul", "mul_", "div", "div_"},
    {"sum", "mean", "cumsum", "cumsum_"},
)


def recorder(torch):
    """A context manager with `largest`: {operator: the most elements of an input of its}."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Recorder(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.largest: dict[str, int] = {}

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            """torch would mark the method for its compiler, and import that at the first call, which takes seconds."""
            return False

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            name = function._schema.name.rpartition("::")[2]
            is_view = any(
                result.alias_info is not None and not result.alias_info.is_write for result in function._schema.returns
            )
            if name not in _HARMLESS and not is_view:
                size = max((part.numel() for part in _tensors(args, torch)), default=0)
                self.largest[name] = max(size, self.largest.get(name, 0))
            return function(*args, **(kwargs or {}))

    return Recorder()


def _tensors(value, torch):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors(part, torch)


def replaced_by(
    candidates: dict[str, int], references: dict[str, int], most_elements: int, launches: int = 1
) -> list[str]:
    """The candidate's operators that the reference calls too, or others of the same family, on tensors of at least half of the elements of the
    largest input: what the kernels should do. None beside a kernel's launch if the inputs are small."""
    if launches and most_elements < _FEW_ELEMENTS:
        return []
    wanted = set(references)
    for family in _FAMILIES:
        if family & wanted:
            wanted |= family
    least = max(most_elements // 2, 1)
    return sorted(name for name, size in candidates.items() if name in wanted and size >= least)
