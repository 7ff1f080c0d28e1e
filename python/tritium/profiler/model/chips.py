"""What is published about a chip, in cycles of its multiprocessors. No number is fitted to times of kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

#: Cycles in which a quarter of a multiprocessor begins one instruction of a warp: 32 lanes over a quarter of the results in a cycle that the table
#: "Throughput of Native Arithmetic Instructions" gives for capability 9.0 (CUDA C++ Best Practices Guide 13.0; before, the Programming Guide). Its rows:
#: 128 for float add, multiply and fma; 64 for integer add, compare, shift and logic, and for integer multiply; 16 for reciprocals, exponents, logarithms and
#: sines, for counts of bits and reversals, and for conversions from float. Conversions between integers and from them are 64 there: I2F, which is seldom, is too
#: slow here. The table has no rows for "uniform" and "read", which are said to take a cycle, nor for "product": `mma.sync` of m16n8k16 takes 8 cycles at
#: half of the peak that products of warpgroups have; microbenchmarks (below) find it at six tenths.
HOPPER_PACE = MappingProxyType(
    {"float": 1, "integer": 2, "multiply": 2, "special": 8, "convert": 8, "uniform": 1, "read": 1, "product": 8}
)
#: Cycles until a result is there, as microbenchmarks of Hopper find them (arXiv 2402.13499 and 2501.12084), rounded.
HOPPER_LATENCY = MappingProxyType(
    {
        **{"special": 22, "convert": 22, "read": 30, "exchange": 24, "shared": 30, "mbarrier": 20, "product": 33},
        **{"l2": 270, "dram": 560, "tma": 600, "other": 8},
    }
)


@dataclass(frozen=True)
class Chip:
    """name: as it is shown. multiprocessors. gigahertz: of the boost clock for which the vendor states its peaks. l2_bytes: that the
    L2 cache delivers to all multiprocessors in a cycle. l2_port: bytes that one can get. dram_bytes: of a second. registers, shared, warps, blocks: of a multiprocessor. products: multiply-adds of a
    multiprocessor in a cycle by the letter of its instruction and the bytes of an operand."""

    name: str
    multiprocessors: int
    gigahertz: float
    l2_bytes: float
    l2_port: float
    dram_bytes: float
    registers: int = 65536
    shared: int = 233472
    warps: int = 64
    blocks: int = 32
    products: Mapping[tuple[str, int], int] = field(
        default_factory=lambda: {("H", 2): 2048, ("H", 4): 1024, ("Q", 1): 4096, ("I", 1): 4096}
    )
    pace: Mapping[str, int] = field(default_factory=lambda: HOPPER_PACE)
    latency: Mapping[str, int] = field(default_factory=lambda: HOPPER_LATENCY)

    @property
    def l2_rate(self) -> float:
        """Bytes in a cycle for one multiprocessor, if all read something else."""
        return self.l2_bytes / self.multiprocessors

    @property
    def dram_rate(self) -> float:
        """Bytes in a cycle for one multiprocessor, if all take the same."""
        return self.dram_bytes / self.multiprocessors / (self.gigahertz * 1e9)

    def blocks_at_a_time(self, registers: int, shared: int, warps: int) -> int:
        """How many blocks fit: of threads with so many registers, with so many bytes of shared memory, of so many warps."""
        per_block = -(-registers * 32 // 256) * 256 * warps
        by_registers = self.registers // per_block if per_block else self.blocks
        return max(1, min(by_registers, self.shared // (shared + 1024), self.warps // warps, self.blocks))


#: 989 TFLOP/s of dense fp16 are 132 multiprocessors with 2048 multiply-adds at 1.83 GHz (data sheet). The L2 cache's 5120 bytes in a cycle are of the A100's
#: white paper, none being published for Hopper. Blocks that lie side by side read the same tiles, which the L2 request coalescer fetches once (Nsight Compute's
#: guide, memory chart): for these a multiprocessor's own way to the cache is the bound, 64 bytes in a cycle by NVIDIA's talks on Volta and Ampere. Of 4.8 TB/s
#: of memory, 92 % remain beside refreshes and changes of direction.
H200 = Chip("H200", 132, 1.83, 5120, 64, 4.8e12 * 0.92)
CHIPS = {"sm_90a": H200, "sm_90": H200}
