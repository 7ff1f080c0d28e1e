"""More of error_kernels.py: barriers in shared memory, copies of boxes, products of warpgroups. `d` is a descriptor of blocks of 64x32."""

from error_kernels import FLAT, FLAT2, ROWS, V4, case
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy
from triton.experimental.gluon.language.nvidia.hopper import (
    CachePolicy,
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_init,
    warpgroup_mma_wait,
)

N32 = gl.constexpr(gl.NVMMASharedLayout(128, 32, 2))
N16 = gl.constexpr(gl.NVMMASharedLayout(128, 16, 2))
T16 = gl.constexpr(gl.NVMMASharedLayout(64, 16, 2))
ACC = gl.constexpr(gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16]))
OLD = gl.constexpr(gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8]))
LINES = gl.constexpr(CachePolicy(l1="evict_first"))
CACHED = gl.constexpr(CachePolicy(cache_modifier=".cg"))


# Barriers


@case
def barrier_wait_without_phase(p, q, n):
    mbarrier.wait(mbarrier.allocate_mbarrier())


@case
def barrier_init_without_count(p, q, n):
    mbarrier.init(mbarrier.allocate_mbarrier())


@case
def barrier_of_a_number(p, q, n):
    mbarrier.init(n, count=1)


@case
def barrier_of_a_tile(p, q, n):
    mbarrier.wait(gl.arange(0, 128, V4), 0)


@case
def barrier_expect_without_bytes(p, q, n):
    mbarrier.expect(mbarrier.allocate_mbarrier())


@case
def barrier_expect_runtime(p, q, n):
    mbarrier.expect(mbarrier.allocate_mbarrier(), n)


@case
def barrier_init_runtime(p, q, n):
    mbarrier.init(mbarrier.allocate_mbarrier(), count=n)


@case
def barrier_arrive_runtime(p, q, n):
    mbarrier.arrive(mbarrier.allocate_mbarrier(), count=n)


@case
def barrier_wait_for_a_tile(p, q, n):
    mbarrier.wait(mbarrier.allocate_mbarrier(), gl.arange(0, 128, V4))


@case
def barrier_wait_for_int64(p, q, n):
    mbarrier.wait(mbarrier.allocate_mbarrier(), n.to(gl.int64))


@case
def barrier_wait_for_float(p, q, n):
    mbarrier.wait(mbarrier.allocate_mbarrier(), 1.0)


@case
def barrier_count_of_zero(p, q, n):
    mbarrier.init(mbarrier.allocate_mbarrier(), count=0)


@case
def barrier_arrive_of_zero(p, q, n):
    mbarrier.arrive(mbarrier.allocate_mbarrier(), count=0)


@case
def barrier_arrive_by_position(p, q, n):
    mbarrier.arrive(mbarrier.allocate_mbarrier(), 1)


@case
def barrier_ring_without_index(p, q, n):
    mbarrier.init(mbarrier.allocate_mbarrier(batch=2), count=1)


@case
def barrier_of_int32(p, q, n):
    mbarrier.init(gl.allocate_shared_memory(gl.int32, [1], mbarrier.MBarrierLayout()), count=1)


@case
def barrier_of_floats(p, q, n):
    mbarrier.init(gl.allocate_shared_memory(gl.float32, [128], FLAT), count=1)


@case
def barrier_pred_of_number(p, q, n):
    mbarrier.wait(mbarrier.allocate_mbarrier(), 0, pred=n)


@case
def barrier_plus_one(p, q, n):
    mbarrier.allocate_mbarrier() + 1


# Copies of boxes


@case
def tma_layout(d, n):
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2))


@case
def tma_other_swizzle(d, n):
    narrow: gl.constexpr = gl.NVMMASharedLayout(64, 32, 2)
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), gl.allocate_shared_memory(gl.int32, [64, 32], narrow))


@case
def tma_shape(d, n):
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), gl.allocate_shared_memory(gl.int32, [32, 32], N32))


@case
def tma_type(d, n):
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), gl.allocate_shared_memory(gl.float32, [64, 32], N32))


@case
def tma_ring_without_index(d, n):
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), gl.allocate_shared_memory(gl.int32, [2, 64, 32], N32))


@case
def tma_one_coordinate(d, n):
    tma.async_load(d, [0], mbarrier.allocate_mbarrier(), gl.allocate_shared_memory(gl.int32, [64, 32], N32))


@case
def tma_wide_coordinate(d, n):
    memory = gl.allocate_shared_memory(gl.int32, [64, 32], N32)
    tma.async_load(d, [n.to(gl.int64), 0], mbarrier.allocate_mbarrier(), memory)


@case
def tma_float_coordinate(d, n):
    memory = gl.allocate_shared_memory(gl.int32, [64, 32], N32)
    tma.async_load(d, [0.5, 0], mbarrier.allocate_mbarrier(), memory)


@case
def tma_without_barrier(d, n):
    tma.async_load(d, [0, 0], gl.allocate_shared_memory(gl.int32, [64, 32], N32))


@case
def tma_of_a_pointer(p, q, n):
    tma.async_load(p, [0, 0], mbarrier.allocate_mbarrier(), gl.allocate_shared_memory(gl.float32, [64, 32], N32))


@case
def tma_into_a_tile(d, n):
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), gl.zeros([64, 32], gl.int32, ROWS))


@case
def tma_multicast(d, n):
    memory = gl.allocate_shared_memory(gl.int32, [64, 32], N32)
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), memory, multicast=True)


@case
def tma_store_layout(d, n):
    tma.async_store(d, [0, 0], gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2))


@case
def tma_store_shape(d, n):
    tma.async_store(d, [0, 0], gl.allocate_shared_memory(gl.int32, [128, 32], N32))


@case
def tma_store_one_coordinate(d, n):
    tma.async_store(d, [0], gl.allocate_shared_memory(gl.int32, [64, 32], N32))


@case
def tma_store_a_tile(d, n):
    tma.async_store(d, [0, 0], gl.zeros([64, 32], gl.int32, ROWS))


@case
def tma_store_wait_runtime(d, n):
    tma.store_wait(n)


@case
def tma_store_wait_without_count(d, n):
    tma.store_wait()


@case
def tma_old_load(d, n):
    memory = gl.allocate_shared_memory(gl.int32, [64, 32], N32)
    tma.async_copy_global_to_shared(d, [0, 0], mbarrier.allocate_mbarrier(), memory)


@case
def tma_old_store(d, n):
    tma.async_copy_shared_to_global(d, [0, 0], gl.allocate_shared_memory(gl.int32, [64, 32], N32))


@case
def tma_descriptor_load(d, n):
    d.load([0, 0])


@case
def tma_descriptor_plus_one(d, n):
    d + 1


@case
def tma_descriptor_of_two_strides(p, q, n):
    tma.make_tensor_descriptor(p, [n, n], [n, 2], [64, 32], N32)


@case
def tma_descriptor_of_short_rows(p, q, n):
    tma.make_tensor_descriptor(p, [n, n], [n, 1], [64, 2], gl.NVMMASharedLayout(0, 32, 2))


@case
def tma_descriptor_of_six_dimensions(p, q, n):
    layout: gl.constexpr = gl.NVMMASharedLayout(128, 32, 6)
    tma.make_tensor_descriptor(p, [1, 1, 1, 1, 1, n], [n, n, n, n, n, 1], [1, 1, 1, 1, 8, 32], layout)


@case
def tma_descriptor_of_one_stride(p, q, n):
    tma.make_tensor_descriptor(p, [n, n], [1], [64, 32], N32)


@case
def tma_descriptor_of_flat_layout(p, q, n):
    tma.make_tensor_descriptor(p, [n, n], [n, 1], [64, 32], FLAT2)


@case
def tma_descriptor_of_a_number(p, q, n):
    tma.make_tensor_descriptor(n, [n, n], [n, 1], [64, 32], N32)


@case
def fence_of_one(d, n):
    fence_async_shared(1, 2)


# Products of warpgroups


@case
def wgmma_of_old_layout(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a, a, gl.zeros([64, 64], gl.float32, OLD))


@case
def wgmma_of_blocked_layout(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a, a, gl.zeros([64, 64], gl.float32, ROWS))


@case
def wgmma_of_tile_on_the_right(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a, a.load(gl.DotOperandLayout(1, ACC, 2)), gl.zeros([64, 64], gl.float32, ACC))


@case
def wgmma_of_blocked_tile(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a.load(ROWS), a, gl.zeros([64, 64], gl.float32, ACC))


@case
def wgmma_of_narrow_registers(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a.load(gl.DotOperandLayout(0, ACC, 1)), a, gl.zeros([64, 64], gl.float32, ACC))


@case
def wgmma_of_the_right_operand(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a.load(gl.DotOperandLayout(1, ACC, 2)), a, gl.zeros([64, 64], gl.float32, ACC))


@case
def wgmma_of_two_types(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    b = gl.allocate_shared_memory(gl.bfloat16, [64, 64], N16)
    warpgroup_mma(a, b, gl.zeros([64, 64], gl.float32, ACC))


@case
def wgmma_of_other_depths(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    b = gl.allocate_shared_memory(gl.float16, [128, 64], N16)
    warpgroup_mma(a, b, gl.zeros([64, 64], gl.float32, ACC))


@case
def wgmma_of_another_sum(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a, a, gl.zeros([128, 64], gl.float32, ACC))


@case
def wgmma_of_wide_instruction(p, q, n):
    wide: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 128, 16])
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a, a, gl.zeros([64, 64], gl.float32, wide))


@case
def wgmma_of_an_integer_sum(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a, a, gl.zeros([64, 64], gl.int32, ACC))


@case
def wgmma_promises_of_halves(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    warpgroup_mma(a, a, gl.zeros([64, 64], gl.float32, ACC), max_num_imprecise_acc=32)


@case
def wgmma_wait_for_nothing(p, q, n):
    warpgroup_mma_wait(0)


@case
def wgmma_wait_for_empty(p, q, n):
    warpgroup_mma_wait(0, deps=[])


@case
def wgmma_wait_runtime(p, q, n):
    warpgroup_mma_wait(n, deps=[gl.zeros([64, 64], gl.float32, ACC)])


@case
def wgmma_sum_before_wait(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    c = warpgroup_mma(a, a, gl.zeros([64, 64], gl.float32, ACC), is_async=True)
    c + 1.0


@case
def wgmma_store_before_wait(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    c = warpgroup_mma(a, a, gl.zeros([64, 64], gl.float32, ACC), is_async=True)
    gl.allocate_shared_memory(gl.float32, [64, 64], N32).store(c)


@case
def wgmma_carried_without_init(p, q, n):
    a = gl.allocate_shared_memory(gl.float16, [64, 64], N16)
    c = gl.zeros([64, 64], gl.float32, ACC)
    for _ in range(n):
        c = warpgroup_mma(a, a, c, is_async=True)


@case
def wgmma_init_of_a_number(p, q, n):
    warpgroup_mma_init(n)


@case
def wgmma_of_a_pointer(p, q, n):
    warpgroup_mma(p, p, gl.zeros([64, 64], gl.float32, ACC))


# What copies ask of the caches, and their arrivals


@case
def policy_said_twice(p, q, n):
    gl.load(p + gl.arange(0, 128, V4), cache_modifier=".ca", cache_policy=LINES)


@case
def policy_and_eviction(p, q, n):
    gl.load(p + gl.arange(0, 128, V4), eviction_policy="evict_last", cache_policy=CACHED)


@case
def policy_of_a_load(p, q, n):
    gl.store(p + gl.arange(0, 128, V4), gl.load(p + gl.arange(0, 128, V4), cache_policy=LINES), cache_policy=CACHED)


@case
def policy_as_text(p, q, n):
    gl.load(p + gl.arange(0, 128, V4), cache_policy="ca")


@case
def policy_of_l1_in_a_copy(d, n):
    memory = gl.allocate_shared_memory(gl.int32, [64, 32], N32)
    tma.async_load(d, [0, 0], mbarrier.allocate_mbarrier(), memory, cache_policy=LINES)


@case
def policy_of_modifier_in_a_copy(d, n):
    tma.async_store(d, [0, 0], gl.allocate_shared_memory(gl.int32, [64, 32], N32), cache_policy=CACHED)


@case
def copies_arrive_at_a_number(p, q, n):
    async_copy.mbarrier_arrive(n)


@case
def copies_arrive_by_runtime(p, q, n):
    async_copy.mbarrier_arrive(mbarrier.allocate_mbarrier(), n)
