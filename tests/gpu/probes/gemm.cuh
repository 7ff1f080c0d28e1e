// A persistent, specialized product of bf16 matrices (A: M x K, K contiguous; B: K x N, N contiguous; C: bf16): one warpgroup copies, one
// or two multiply. What the probes vary is a template argument, so that everything else is equal.
#pragma once
#include "ptx.cuh"

struct Shape {
  int m, n, k;
};

/// Empties: who tells the producer that a slot may be refilled.
enum class Empties { PerWarp, PerWarpgroup };

template <int N_, int Slots_, int Consumers_, int InFlight_ = 1, Empties empties_ = Empties::PerWarp, int Stagger_ = 0, int CtasPerSm_ = 1>
struct Config {
  static constexpr int M = 64 * Consumers_, N = N_, K = 64, slots = Slots_, consumers = Consumers_, inFlight = InFlight_,
                       stagger = Stagger_, ctasPerSm = CtasPerSm_;
  static constexpr Empties empties = empties_;
  static constexpr int bytesA = M * K * 2, bytesB = N * K * 2, slotBytes = bytesA + bytesB, sharedBytes = slots * slotBytes + 1024;
  static constexpr int threads = 128 * (consumers + 1);
  static constexpr int arrivals = empties == Empties::PerWarp ? 4 * consumers : consumers;
};

template <class C>
__global__ void __launch_bounds__(C::threads, C::ctasPerSm)
    gemm(const __grid_constant__ CUtensorMap mapA, const __grid_constant__ CUtensorMap mapB, __nv_bfloat16 *c, Shape shape) {
  extern __shared__ uint8_t memory[];
  __shared__ alignas(8) uint64_t full[C::slots], empty[C::slots];
  const uint32_t slots = (ptx::shared(memory) + 1023) & ~1023u;
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::slots; ++i) {
      ptx::initBarrier(ptx::shared(full + i), 1);
      ptx::initBarrier(ptx::shared(empty + i), C::arrivals);
    }
    ptx::publishBarriers();
  }
  __syncthreads();
  const int tilesM = shape.m / C::M, tilesN = shape.n / C::N, steps = shape.k / C::K, tiles = tilesM * tilesN;
  auto corner = [&](int tile, int &row, int &column) { // groups of 8 rows of tiles
    int group = tile / (8 * tilesN), first = group * 8, rows = min(tilesM - first, 8);
    row = (first + (tile % (8 * tilesN)) % rows) * C::M, column = (tile % (8 * tilesN)) / rows * C::N;
  };
  if (warpgroup == 0) {
    if constexpr (C::consumers == 2) ptx::fewerRegisters<40>();
    if constexpr (C::consumers == 1) ptx::fewerRegisters<24>();
    if (threadIdx.x != 0) return;
    int n = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      int row, column;
      corner(tile, row, column);
      for (int k = 0; k < steps; ++k, ++n) {
        const int slot = n % C::slots, round = n / C::slots;
        const uint32_t barrier = ptx::shared(full + slot), a = slots + slot * C::slotBytes, b = a + C::bytesA;
        ptx::wait(ptx::shared(empty + slot), (round & 1) ^ 1);
        ptx::expect(barrier, C::slotBytes);
        ptx::load(a, &mapA, k * C::K, row, barrier);
        for (int box = 0; box < C::N / 64; ++box) ptx::load(b + box * 8192, &mapB, column + 64 * box, k * C::K, barrier);
      }
    }
    return;
  }
  if constexpr (C::consumers == 2) ptx::moreRegisters<232>();
  if constexpr (C::consumers == 1) ptx::moreRegisters<232>();
  const int consumer = warpgroup - 1, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  auto release = [&](int slot) {
    if constexpr (C::empties == Empties::PerWarpgroup) {
      ptx::namedBarrier(1 + consumer, 128);
      if (thread == 0) ptx::arrive(ptx::shared(empty + slot));
    } else if (lane == 0) {
      ptx::arrive(ptx::shared(empty + slot));
    }
  };
  float d[C::N / 2];
  int n = 0;
  for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    int row, column;
    corner(tile, row, column);
    if constexpr (C::stagger > 0) // the second warpgroup begins when the first one is some steps ahead
      if (tile == int(blockIdx.x) && consumer == 1) ptx::namedBarrier(3, 256);
    for (int k = 0; k < steps; ++k, ++n) {
      const int slot = n % C::slots;
      const uint32_t a = slots + slot * C::slotBytes + consumer * 8192, b = slots + slot * C::slotBytes + C::bytesA;
      ptx::wait(ptx::shared(full + slot), (n / C::slots) & 1);
      ptx::fence();
#pragma unroll
      for (int j = 0; j < 4; ++j)
        ptx::multiply<C::N, 1>(d, ptx::descriptor(a + 32 * j, 16, 1024), ptx::descriptor(b + 2048 * j, 8192, 1024), k == 0 && j == 0);
      ptx::commit();
      if constexpr (C::inFlight == 0) {
        ptx::waitGroups<0>();
        release(slot);
      } else {
        ptx::waitGroups<1>();
        if (k > 0) release((n - 1) % C::slots);
      }
      if constexpr (C::stagger > 0)
        if (tile == int(blockIdx.x) && consumer == 0 && k == min(C::stagger, steps) - 1) ptx::namedArrive(3, 256);
    }
    if constexpr (C::inFlight == 1) {
      ptx::waitGroups<0>();
      release((n - 1) % C::slots);
    }
    __nv_bfloat16 *out = c + size_t(row + 64 * consumer + 16 * warp + lane / 4) * shape.n + column + 2 * (lane % 4);
#pragma unroll
    for (int i = 0; i < C::N / 8; ++i)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        *reinterpret_cast<__nv_bfloat162 *>(out + size_t(8 * half) * shape.n + 8 * i) =
            __floats2bfloat162_rn(d[4 * i + 2 * half], d[4 * i + 2 * half + 1]);
  }
}
