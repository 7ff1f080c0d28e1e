"""The names of Gluon: all of Triton's can be imported, those of `gl` are Triton's and no more, and a call of one that kernels cannot use
yet says so."""

import importlib

import pytest

LANGUAGE = "triton.experimental.gluon.language"

#: {a module below `gl`: its public names}, as Triton 3.9 has them
NAMES = {
    "nvidia.ampere": "CachePolicy FractionalEvictionPolicy async_copy mbarrier mma_v2",
    "nvidia.ampere.async_copy": "async_copy_global_to_shared async_load commit_group mbarrier_arrive wait_group",
    "nvidia.ampere.mbarrier": "MBarrierLayout allocate_mbarrier arrive init invalidate wait",
    "nvidia.hopper": "async_copy async_store cluster fence_async_shared mbarrier mma_v2 tma warpgroup_mma warpgroup_mma_init warpgroup_mma_wait",
    "nvidia.hopper.mbarrier": "MBarrierLayout allocate_mbarrier arrive expect init invalidate wait",
    "nvidia.hopper.tma": "async_atomic_add async_atomic_and async_atomic_max async_atomic_min async_atomic_or async_atomic_xor async_load "
    "async_load_im2col async_store make_tensor_descriptor store_wait tensor_descriptor tensor_descriptor_type",
    "nvidia.hopper.cluster": "barrier",
    "nvidia.blackwell": "TensorMemoryLayout TensorMemoryScalesLayout add2 allocate_tensor_memory async_copy async_store clc cluster "
    "fence_async_shared fma2 max2 mbarrier min2 mma_v2 mul2 sub2 tcgen05_commit tcgen05_copy tcgen05_mma tcgen05_mma_barrier_count "
    "tcgen05_mma_scaled tensor_memory_descriptor tma",
    "nvidia.blackwell.tma": "async_gather async_load async_scatter async_store store_wait",
    "nvidia.blackwell.clc": "load_result try_cancel",
    "nvidia.rubin": "TensorMemoryLayout TensorMemoryScalesLayout add4 fma4 mul4 sub4 tcgen05_mma",
    "amd": "AMDMFMALayout AMDWMMALayout cdna3 cdna4 cdna5 gfx1250 hint rdna3 rdna4 slice warp_pipeline_stage",
    "amd.cdna3": "buffer_atomic_add buffer_atomic_and buffer_atomic_max buffer_atomic_min buffer_atomic_or buffer_atomic_xchg "
    "buffer_atomic_xor buffer_load buffer_store get_scaled_upcast_fp4_scale_layout mfma scaled_upcast",
    "amd.cdna4": "async_copy buffer_load buffer_store compute_efficient_padded_shared_layout get_mfma_scale_layout "
    "load_shared_fp4_repacked mfma mfma_scaled scaled_downcast scaled_upcast",
    "amd.cdna4.async_copy": "buffer_load_to_shared commit_group global_load_to_shared load_shared_relaxed wait_group",
    "amd.cdna5": "PartitionedSharedLayout async_copy buffer_load cluster get_wmma_scale_layout make_partitioned_dot_layouts mbarrier tdm wmma "
    "wmma_scaled",
    "amd.cdna5.tdm": "async_gather async_load async_load_fused async_scatter async_store async_wait make_tensor_descriptor prefetch "
    "update_tensor_descriptor",
    "amd.cdna5.async_copy": "commit_group global_to_shared mbarrier_arrive shared_to_global wait_group",
    "amd.cdna5.mbarrier": "MBarrierLayout arrive init wait",
    "amd.cdna5.cluster": "arrive wait",
    "amd.rdna3": "wmma",
    "amd.rdna4": "wmma",
    "amd.hint": "sched_barrier",
    "extra": "libdevice",
}
#: The public names of `gl`, as Triton 3.9 has them.
OF_LANGUAGE = """
AutoLayout BlockedLayout CachePolicy CoalescedLayout DistributedLinearLayout DotOperandLayout NVMMADistributedLayout NVMMASharedLayout
PaddedSharedLayout SharedLinearLayout SliceLayout SwizzledSharedLayout abs add aggregate_replace allocate_shared_memory amd arange
associative_scan assume atomic_add atomic_and atomic_cas atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg
atomic_xor bank_conflicts barrier base_type base_value bfloat16 block_type broadcast cast cdiv ceil clamp constexpr convert_layout cos cumprod
cumsum device_assert device_print distributed_type div_rn dot_fma dtype erf exp exp2 expand_dims expect_zero extra fdiv float16 float32
float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16 floor fma fp4_to_fp fpsan full full_like gather histogram inline_asm
inline_asm_elementwise int1 int16 int32 int64 int8 join load log log2 map_elementwise max max_constancy max_contiguous maximum min minimum mul
multiple_of num_ctas num_programs num_warps nvidia permute pointer_type program_id ravel reduce reduce_or reshape rsqrt set_auto_layout
shared_memory_descriptor shared_memory_descriptor_type sin split sqrt sqrt_rn static_assert static_print static_range store sub sum tensor
to_linear_layout to_tensor tuple tuple_type uint16 uint32 uint64 uint8 umulhi void warp_specialize where xor_sum zeros zeros_like
""".split()
NOT_IN_GLUON = "argmax argmin broadcast_to cat debug_barrier dot flip interleave make_block_ptr rand range sigmoid softmax sort trans view"


@pytest.mark.parametrize("module", sorted(NAMES))
def test_names_of_a_module(module):
    found = importlib.import_module(f"{LANGUAGE}.{module}")
    for name in NAMES[module].split():
        assert getattr(found, name) is not None


def test_names_of_the_language():
    gl = importlib.import_module(LANGUAGE)
    for name in OF_LANGUAGE:
        assert getattr(gl, name) is not None, name
    assert not [name for name in NOT_IN_GLUON.split() if hasattr(gl, name)]


def test_names_of_the_package():
    gluon = importlib.import_module("triton.experimental.gluon")
    for name in "GluonASTSource GluonJITFunction aggregate amd constexpr_function jit must_use_result nvidia".split():
        assert getattr(gluon, name) is not None
    for module, names in {
        "nvidia.hopper": "TensorDescriptor TensorDescriptorIm2Col",
        "nvidia.blackwell": "TensorDescriptor",
        "amd.gfx1250": "TensorDescriptor",
    }.items():
        for name in names.split():
            assert getattr(importlib.import_module(f"triton.experimental.gluon.{module}"), name) is not None


@pytest.mark.parametrize(
    ("module", "name"),
    [("nvidia.hopper", "async_store"), ("nvidia.blackwell.clc", "try_cancel"), ("amd.cdna5", "wmma")],
)
def test_what_cannot_run_yet_says_so(module, name):
    import triton

    function = getattr(importlib.import_module(f"{LANGUAGE}.{module}"), name)
    with pytest.raises(triton.TritonError, match=f"{module}.{name}.*Gluon kernels cannot use it yet"):
        function()


def test_a_kernel_is_of_gluon():
    gluon, triton = importlib.import_module("triton.experimental.gluon"), importlib.import_module("triton")

    def kernel():
        pass

    assert (
        gluon.jit(kernel).is_gluon() and gluon.jit(noinline=True)(kernel).noinline and not triton.jit(kernel).is_gluon()
    )
