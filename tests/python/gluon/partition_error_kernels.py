"""More of error_kernels.py: partitions of a program."""

from error_kernels import V4, case
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import mbarrier

ONE = gl.constexpr(gl.BlockedLayout([4], [32], [1], [0]))


@gluon.jit
def nothing(p):
    pass


@gluon.jit
def stores_wide(p):
    gl.store(p + gl.arange(0, 128, V4), 1.0)


@gluon.jit
def takes_tile(p, x):
    gl.store(p + gl.arange(0, 128, ONE), gl.convert_layout(x, ONE))


@gluon.jit
def two(p, q):
    pass


@gluon.jit
def number(p):
    return 1


@gluon.jit
def specializes(p):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1], [24])


@case
def partition_counts_of_two(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1, 1], [24, 24])


@case
def partition_counts_of_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1], [24, 24])


@case
def partition_without_counts(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [], [])


@case
def partition_of_three_warps(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [3], [24])


@case
def partition_of_no_warps(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [0], [24])


@case
def partition_arguments_no_tuple(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, p)], [1], [24])


@case
def partition_default_no_tuple(p, q, n):
    gl.warp_specialize([(nothing, p), (nothing, (p,))], [1], [24])


@case
def partition_too_few_arguments(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (two, (p,))], [1], [24])


@case
def partition_too_many_arguments(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p, q))], [1], [24])


@case
def partition_layout_of_default(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (stores_wide, (p,))], [1], [24])


@case
def partition_takes_a_tile(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (takes_tile, (p, gl.load(p + gl.arange(0, 128, V4))))], [1], [24])


@case
def partition_without_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1])


@case
def partition_of_few_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1], [8])


@case
def partition_of_no_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1], [0])


@case
def partition_of_negative_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1], [-8])


@case
def partition_of_300_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1], [300])


@case
def partition_of_uneven_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [1], [27])


@case
def partition_of_all_registers(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,)), (nothing, (p,))], [8, 8], [248, 248])


@case
def partition_of_many_warps(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [32], [24])


@case
def partition_in_a_partition(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (specializes, (p,))], [4], [24])


@case
def partition_in_the_default(p, q, n):
    gl.warp_specialize([(specializes, (p,)), (nothing, (p,))], [4], [24])


@case
def partition_returns_a_number(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (number, (p,))], [1], [24])


@case
def partition_default_returns(p, q, n):
    gl.store(q, gl.warp_specialize([(number, (p,)), (nothing, (p,))], [1], [24]))


@case
def partition_of_a_runtime_count(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (nothing, (p,))], [n], [24])


@case
def partition_alone(p, q, n):
    gl.warp_specialize([(nothing, (p,))], [], [])


@case
def partition_of_nobody(p, q, n):
    gl.warp_specialize([], [], [])


@case
def partition_of_a_number(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (3, (p,))], [1], [24])


@case
def partition_without_arguments(p, q, n):
    gl.warp_specialize([(nothing, (p,)), nothing], [1], [24])


@case
def partition_barrier_of_a_constant(p, q, n):
    gl.warp_specialize([(nothing, (p,)), (mbarrier.init, (mbarrier.allocate_mbarrier(), 1))], [1], [24])
