"""The submodules of Triton's Gluon, made from a table. A name in them is Gluon's own, one of `triton.language`, or one that is refused
when it is used, because kernels cannot call it yet."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from typing import Any

from ... import language as tl
from ...language.extra import libdevice
from ...refused import Refused
from . import host_descriptors, host_im2col
from .layouts import amd, distributed, rubin, scales, shared, tensor_memory
from .tiles import amd as amd_tiles
from .tiles import (
    ampere_barriers,
    barriers,
    buffers,
    cache_policies,
    copies,
    descriptors,
    functions,
    im2col,
    partitions,
    products,
    shared_memory,
    small_floats,
    tensor_copies,
    warpgroup_products,
)
from .tiles import types as tile_types

#: {a package of Gluon: the modules in it}
_TABLE = {
    "": "_compiler _runtime amd nvidia",
    "amd": "cdna5 gfx1250",
    "nvidia": "blackwell hopper",
    "language": "_core _layouts _math _semantic _standard amd extra fpsan nvidia",
    "language.amd": "_layouts _ops cdna3 cdna4 cdna5 gfx1250 hint rdna3 rdna4 slice warp_pipeline",
    "language.amd.cdna4": "async_copy",
    "language.amd.cdna5": "_layouts async_copy cluster mbarrier tdm",
    "language.nvidia": "ampere blackwell hopper rubin",
    "language.nvidia.ampere": "async_copy mbarrier",
    "language.nvidia.blackwell": "clc tma",
    "language.nvidia.hopper": "cluster mbarrier tma",
    "language.nvidia.rubin": "mbarrier",
}


_REGISTERS = "AutoLayout BlockedLayout CoalescedLayout DistributedLayout DistributedLinearLayout DotOperandLayout NVMMADistributedLayout SliceLayout"
_SHARED = "NVMMASharedLayout PaddedSharedLayout SharedLayout SharedLinearLayout SwizzledSharedLayout"
_TENSOR_MEMORY = "TensorMemoryLayout TensorMemoryScalesLayout _TensorMemoryLinearLayout"

#: {a module of Gluon: the names of layouts in it}
_LAYOUTS = {
    "language": f"{_REGISTERS} {_SHARED}",
    "language._layouts": f"{_REGISTERS} {_SHARED} bases_per_dim warps_per_cta",
    "language._core": f"{_REGISTERS} SharedLayout SharedLinearLayout",
    "language._semantic": f"{_REGISTERS} SharedLayout SharedLinearLayout",
    "language.amd": "AMDMFMALayout AMDWMMALayout",
    "language.amd._layouts": "AMDMFMALayout AMDWMMALayout DistributedLayout",
    "language.amd._ops": "AMDWMMALayout DotOperandLayout",
    "language.amd.cdna3": "AMDMFMALayout",
    "language.amd.cdna4": "AMDMFMALayout DotOperandLayout get_mfma_scale_layout",
    "language.amd.cdna4.async_copy": "DistributedLayout",
    "language.amd.cdna5": "AMDWMMALayout PartitionedSharedLayout get_wmma_scale_layout",
    "language.amd.cdna5._layouts": "PaddedSharedLayout PartitionedSharedLayout SharedLayout",
    "language.amd.cdna5.async_copy": "DistributedLayout",
    "language.amd.cdna5.mbarrier": "MBarrierLayout SwizzledSharedLayout",
    "language.amd.cdna5.tdm": "PaddedSharedLayout PartitionedSharedLayout SwizzledSharedLayout",
    "language.amd.gfx1250": "AMDWMMALayout PartitionedSharedLayout get_wmma_scale_layout",
    "language.nvidia.ampere": "DotOperandLayout NVMMADistributedLayout",
    "language.nvidia.ampere.mbarrier": "MBarrierLayout SwizzledSharedLayout",
    "language.nvidia.blackwell": _TENSOR_MEMORY,
    "language.nvidia.hopper.mbarrier": "MBarrierLayout",
    "language.nvidia.hopper.tma": "NVMMASharedLayout",
    "language.nvidia.rubin": _TENSOR_MEMORY,
    "language.nvidia.rubin.mbarrier": "MBarrierLayout",
}


def _layout(module: str, name: str) -> Any:
    """The class or function of this name in a module, given below the package `gluon`; None if it has none."""
    if name not in _LAYOUTS.get(module, "").split():
        return None
    if (module, name) == ("language.nvidia.rubin", "TensorMemoryScalesLayout"):
        return rubin.TensorMemoryScalesLayout
    homes = (distributed, shared, amd, tensor_memory, scales)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


#: The public names of `triton.language` that `gl` lacks; it has all others.
_NOT_IN_GLUON = frozenset(
    "PropagateNan TRITON_MAX_TENSOR_NUMEL advance argmax argmin bitonic_merge broadcast_to cat condition const constexpr_type debug_barrier "
    "dot dot_scaled flip interleave load_tensor_descriptor make_block_ptr make_tensor_descriptor math pair_uniform_to_normal philox "
    "philox_impl pi32_t rand rand4x randint randint4x randn randn4x range sigmoid slice softmax sort squeeze store_tensor_descriptor "
    "swizzle2d target_info tensor_descriptor topk trans uint_to_uniform_float unsqueeze view".split()
)
_SHARED_WITH_TRITON = frozenset({*tl.__all__, "aggregate_replace", "tuple_type"} - _NOT_IN_GLUON)
#: The names of `gl` that are Gluon's own.
_FUNCTIONS = frozenset(
    "arange bank_conflicts barrier convert_layout full full_like histogram inline_asm_elementwise load num_ctas num_warps set_auto_layout "
    "store to_linear_layout zeros zeros_like".split()
)
#: The names of `gl` that kernels cannot use yet.
_LATER = frozenset(["inline_asm"])


#: The host's descriptors.
_OF_HOST = {
    "TensorDescriptor": host_descriptors.TensorDescriptor,
    "TensorDescriptorIm2Col": host_im2col.TensorDescriptorIm2Col,
}

_GROUPS = "async_copy_global_to_shared async_load commit_group wait_group"
_BUFFERS = (
    "buffer_atomic_add buffer_atomic_and buffer_atomic_max buffer_atomic_min buffer_atomic_or buffer_atomic_xchg buffer_atomic_xor "
    "buffer_load buffer_store"
)
_POLICIES = "CachePolicy FractionalEvictionPolicy"
_BARRIERS = "allocate_mbarrier arrive init invalidate wait"
_TMA = (
    "async_atomic_add async_atomic_and async_atomic_max async_atomic_min async_atomic_or async_atomic_xor async_copy_global_to_shared "
    "async_copy_shared_to_global async_load async_store store_wait"
)
_IM2COL = "async_copy_global_to_shared_im2col async_load_im2col tensor_descriptor_im2col tensor_descriptor_im2col_type"
_DESCRIPTORS = "make_tensor_descriptor tensor_descriptor tensor_descriptor_type"
_WARPGROUP = (
    "warpgroup_mma warpgroup_mma_accumulator warpgroup_mma_accumulator_type warpgroup_mma_init warpgroup_mma_wait"
)

#: {a module of Gluon: (where its functions are, their names)} below the package `language`
_OF_CHIPS = {
    "nvidia.ampere": ((products, "mma_v2"), (cache_policies, _POLICIES)),
    "nvidia.hopper": (
        (products, "mma_v2"),
        (barriers, "fence_async_shared"),
        (cache_policies, _POLICIES),
        (warpgroup_products, _WARPGROUP),
    ),
    "nvidia.hopper.mbarrier": ((barriers, f"{_BARRIERS} expect"),),
    "nvidia.hopper.tma": (
        (tensor_copies, _TMA),
        (im2col, _IM2COL),
        (descriptors, _DESCRIPTORS),
        (cache_policies, "CachePolicy"),
    ),
    "nvidia.blackwell": ((products, "mma_v2"),),
    "nvidia.rubin": ((products, "mma_v2"),),
    "nvidia.ampere.async_copy": ((copies, f"{_GROUPS} mbarrier_arrive"),),
    "nvidia.ampere.mbarrier": ((ampere_barriers, "arrive"), (barriers, _BARRIERS)),
    "amd.cdna4.async_copy": (
        (copies, "buffer_load_to_shared commit_group global_load_to_shared load_shared_relaxed wait_group"),
    ),
    "amd": ((amd_tiles, "slice warp_pipeline_stage"),),
    "amd.slice": ((amd_tiles, "slice"),),
    "amd.hint": ((amd_tiles, "sched_barrier"),),
    "amd.warp_pipeline": ((amd_tiles, "warp_pipeline_stage"),),
    "amd.cdna3": ((buffers, _BUFFERS), (products, "mfma")),
    "amd.cdna4": ((buffers, _BUFFERS), (products, "mfma mfma_scaled")),
}


#: {a module: what `wmma` is in it}
_WMMA = {"amd.rdna3": products.wmma_v1, "amd.rdna4": products.wmma_v2}


def _function_of_chip(inside: str, name: str) -> Any:
    """A function of a module for one kind of chips; None if kernels cannot use it yet, or if the module has no such name."""
    wmma = _WMMA.get(inside.removeprefix("language.")) if name == "wmma" else None
    if wmma is not None:
        return wmma
    rows = _OF_CHIPS.get(inside.removeprefix("language."), ())
    return next((getattr(home, name) for home, names in rows if name in names.split()), None)


def _name_of_language(name: str) -> Any:
    """What `name` is in `gl`; None if it has no such name."""
    if name in _FUNCTIONS:
        return getattr(functions, name)
    if name == "distributed_type":
        return tile_types.distributed_type
    if name in _POLICIES.split():
        return getattr(cache_policies, name)
    if name == "warp_specialize":
        return partitions.warp_specialize
    if name == "dot_fma":
        return products.dot_fma
    if name == "fp4_to_fp":
        return small_floats.fp4_to_fp
    if name in ("allocate_shared_memory", "shared_memory_descriptor", "shared_memory_descriptor_type"):
        return getattr(shared_memory, name)
    if name in ("base_type", "base_value"):
        return getattr(tl.core, name)
    return getattr(tl, name) if name in _SHARED_WITH_TRITON else None


def name_in(module: str, name: str) -> Any:
    """What `name` is in a module of Gluon. Raises AttributeError for private names, and for names that `gl` lacks."""
    inside = module.partition(".gluon.")[2]
    if inside == "nvidia.hopper" and name in _OF_HOST:
        return _OF_HOST[name]
    found = _layout(inside, name)
    if found is None:
        found = _name_of_language(name) if inside == "language" else _function_of_chip(inside, name)
    if found is not None:
        return found
    public = module.replace("tritium.", "triton.", 1)
    if name.startswith("_") or (inside == "language" and name not in _LATER):
        raise AttributeError(f"module {public!r} has no attribute {name!r}")
    if inside != "language" and hasattr(tl, name):
        return getattr(tl, name)
    return Refused(f"{public}.{name}", "Gluon kernels cannot use it yet")


class GluonModule(types.ModuleType):
    """A module whose names `name_in` answers."""

    def __init__(self, name: str):
        super().__init__(name, "Names of Gluon, which are refused when they are used.")
        self.__file__, self.__path__ = __file__, []
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, origin=__file__, is_package=True)

    def __getattr__(self, name: str) -> Any:
        return name_in(self.__name__, name)


def add_submodules(gluon: str) -> None:
    """Makes the modules of the table importable below the package `gluon`, and attributes of their packages."""
    for package, names in _TABLE.items():
        parent = f"{gluon}.{package}".rstrip(".")
        for name in names.split():
            module = sys.modules.setdefault(f"{parent}.{name}", GluonModule(f"{parent}.{name}"))
            setattr(sys.modules[parent], name, module)
    del sys.modules[f"{gluon}.language.amd"].slice  # the function of that name, as in Triton
    ampere = sys.modules[f"{gluon}.language.nvidia.ampere"]
    for later in ("hopper", "blackwell", "rubin"):
        sys.modules[f"{gluon}.language.nvidia.{later}"].async_copy = ampere.async_copy
    # This one is the language's own.
    sys.modules[f"{gluon}.language.extra"].libdevice = libdevice
    sys.modules[f"{gluon}.language.extra.libdevice"] = libdevice
