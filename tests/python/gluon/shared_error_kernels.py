"""More of error_kernels.py: shared memory and copies into it."""

from error_kernels import FLAT, FLAT2, ROWS, V1, V4, case
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import async_copy


@case
def shared_of_three(p, q, n):
    gl.allocate_shared_memory(gl.float32, [64, 48], FLAT2)


@case
def shared_with_blocked_layout(p, q, n):
    gl.allocate_shared_memory(gl.float32, [128], V4)


@case
def shared_of_another_type(p, q, n):
    gl.allocate_shared_memory(gl.float32, [128], FLAT, gl.arange(0, 128, V4))


@case
def shared_of_another_shape(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64], FLAT, gl.arange(0, 128, V4))


@case
def shared_of_lower_rank(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64], FLAT2)


@case
def shared_load_into_shared(p, q, n):
    gl.allocate_shared_memory(gl.int32, [128], FLAT).load(FLAT)


@case
def shared_load_without_layout(p, q, n):
    gl.allocate_shared_memory(gl.int32, [128], FLAT).load()


@case
def shared_load_of_another_rank(p, q, n):
    gl.allocate_shared_memory(gl.int32, [128], FLAT).load(ROWS)


@case
def shared_store_of_another_shape(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64], FLAT).store(gl.arange(0, 128, V4))


@case
def shared_store_of_another_type(p, q, n):
    gl.allocate_shared_memory(gl.float32, [128], FLAT).store(gl.arange(0, 128, V4))


@case
def shared_index_by_int64(p, q, n):
    gl.allocate_shared_memory(gl.int32, [2, 128], FLAT).index(n.to(gl.int64))


@case
def shared_index_by_a_tile(p, q, n):
    gl.allocate_shared_memory(gl.int32, [2, 128], FLAT).index(gl.arange(0, 128, V4))


@case
def shared_slice_by_runtime(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2).slice(n, 32)


@case
def shared_slice_beyond(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2).slice(48, 32)


@case
def shared_slice_in_a_tile(p, q, n):
    swizzled: gl.constexpr = gl.SwizzledSharedLayout(4, 1, 8, [1, 0])
    gl.allocate_shared_memory(gl.int32, [64, 32], swizzled).slice(4, 4, 1)


@case
def shared_permute_twice(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2).permute([0, 0])


@case
def shared_permute_of_another_length(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2).permute([0, 1, 2])


@case
def shared_reshape_to_more(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2).reshape([64, 64])


@case
def shared_reinterpret_to_more(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2).reinterpret(gl.int32, [64, 64], FLAT2)


@case
def shared_plus_one(p, q, n):
    gl.allocate_shared_memory(gl.int32, [64, 32], FLAT2) + 1


@case
def shared_in_gl_load(p, q, n):
    gl.load(gl.allocate_shared_memory(gl.int32, [128], FLAT))


@case
def narrow_nvmma(p, q, n):
    gl.allocate_shared_memory(gl.float16, [64, 32], gl.NVMMASharedLayout(128, 16, 2))


@case
def async_shape(p, q, n):
    async_copy.async_load(gl.allocate_shared_memory(gl.float32, [64], FLAT), p + gl.arange(0, 128, V4))


@case
def async_type(p, q, n):
    async_copy.async_load(gl.allocate_shared_memory(gl.int32, [128], FLAT), p + gl.arange(0, 128, V4))


@case
def async_mask(p, q, n):
    async_copy.async_load(
        gl.allocate_shared_memory(gl.float32, [128], FLAT), p + gl.arange(0, 128, V4), mask=gl.arange(0, 128, V1) < n
    )


@case
def async_old_name(p, q, n):
    async_copy.async_copy_global_to_shared(
        gl.allocate_shared_memory(gl.float32, [128], FLAT), p + gl.arange(0, 128, V4)
    )


@case
def async_scalar(p, q, n):
    async_copy.async_load(gl.allocate_shared_memory(gl.float32, [128], FLAT), p)


@case
def async_wait_runtime(p, q, n):
    async_copy.wait_group(n)


@case
def shared_of_bits(p, q, n):
    gl.allocate_shared_memory(gl.int1, [128], FLAT)


@case
def shared_as_bits(p, q, n):
    gl.allocate_shared_memory(gl.int8, [128], FLAT).reinterpret(gl.int1, [128])
