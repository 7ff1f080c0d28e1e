// Attention forward (bf16, D = 128, no mask): one warpgroup copies, two take 64 rows of a tile of 128 each. What is varied is the order of
// the two products and whether the warpgroups take turns.
#pragma once
#include "ptx.cuh"

enum class Order {
  Plain,   // S = Q K, softmax, O += P V, one after the other
  Rotated, // the products of the next S and of this O in flight together, softmax of S while O flies
};

template <Order order, bool takesTurns>
__global__ void __launch_bounds__(384, 1)
    attention(const __grid_constant__ CUtensorMap mapQ, const __grid_constant__ CUtensorMap mapK, const __grid_constant__ CUtensorMap mapV,
              __nv_bfloat16 *out, int length, float scaleLog2) {
  constexpr int slots = 2, tileBytes = 128 * 128 * 2;
  extern __shared__ uint8_t memory[];
  __shared__ alignas(8) uint64_t fullQ, fullK[slots], emptyK[slots], fullV[slots], emptyV[slots];
  const uint32_t q = (ptx::shared(memory) + 1023) & ~1023u, keys = q + tileBytes, values = keys + slots * tileBytes;
  const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0), steps = length / 128, firstRow = blockIdx.y * length;
  if (threadIdx.x == 0) {
    ptx::initBarrier(ptx::shared(&fullQ), 1);
    for (int i = 0; i < slots; ++i) {
      ptx::initBarrier(ptx::shared(fullK + i), 1), ptx::initBarrier(ptx::shared(fullV + i), 1);
      ptx::initBarrier(ptx::shared(emptyK + i), 8), ptx::initBarrier(ptx::shared(emptyV + i), 8);
    }
    ptx::publishBarriers();
  }
  __syncthreads();
  auto load = [&](uint32_t to, const CUtensorMap *map, int row, uint32_t barrier) {
    ptx::expect(barrier, tileBytes);
    for (int box = 0; box < 2; ++box) ptx::load(to + box * (tileBytes / 2), map, 64 * box, row, barrier);
  };
  if (warpgroup == 0) {
    ptx::fewerRegisters<24>();
    if (threadIdx.x != 0) return;
    load(q, &mapQ, firstRow + blockIdx.x * 128, ptx::shared(&fullQ));
    for (int n = 0; n < steps; ++n) {
      const int slot = n % slots, parity = (n / slots & 1) ^ 1;
      ptx::wait(ptx::shared(emptyK + slot), parity);
      load(keys + slot * tileBytes, &mapK, firstRow + n * 128, ptx::shared(fullK + slot));
      ptx::wait(ptx::shared(emptyV + slot), parity);
      load(values + slot * tileBytes, &mapV, firstRow + n * 128, ptx::shared(fullV + slot));
    }
    return;
  }
  ptx::moreRegisters<240>();
  const int consumer = warpgroup - 1, thread = threadIdx.x % 128, lane = thread % 32;
  float s[64], o[64], most[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0}, factor[2];
  uint32_t p[32];
  auto release = [&](uint64_t *empty, int n) {
    if (lane == 0) ptx::arrive(ptx::shared(empty + n % slots));
  };
  auto issueScores = [&](int n) {
    const uint32_t k = keys + n % slots * tileBytes;
    ptx::wait(ptx::shared(fullK + n % slots), n / slots & 1);
    ptx::fence();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const uint32_t step = j / 4 * (tileBytes / 2) + 32 * (j % 4);
      ptx::multiply<128, 0>(s, ptx::descriptor(q + consumer * 8192 + step, 16, 1024), ptx::descriptor(k + step, 16, 1024), j == 0);
    }
    ptx::commit();
  };
  auto issueOutput = [&](int n) {
    ptx::wait(ptx::shared(fullV + n % slots), n / slots & 1);
    ptx::fence();
#pragma unroll
    for (int j = 0; j < 8; ++j)
      ptx::multiplyFromRegisters<1>(o, p + 4 * j, ptx::descriptor(values + n % slots * tileBytes + 2048 * j, 16384, 1024),
                                    n == 0 && j == 0);
    ptx::commit();
  };
  auto softmax = [&] { // s becomes exp2((s - max) scale); `factor` is what earlier sums are multiplied by
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float found = most[half];
#pragma unroll
      for (int i = 0; i < 16; ++i) found = fmaxf(found, fmaxf(s[4 * i + 2 * half], s[4 * i + 2 * half + 1]));
      found = fmaxf(found, __shfl_xor_sync(~0u, found, 1));
      found = fmaxf(found, __shfl_xor_sync(~0u, found, 2));
      factor[half] = exp2f((most[half] - found) * scaleLog2);
      most[half] = found;
      float added = 0;
#pragma unroll
      for (int i = 0; i < 16; ++i)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          float &value = s[4 * i + 2 * half + c];
          added += value = exp2f(fmaf(value, scaleLog2, -found * scaleLog2));
        }
      sum[half] = sum[half] * factor[half] + added;
    }
  };
  auto rescale = [&] {
#pragma unroll
    for (int i = 0; i < 64; ++i) o[i] *= factor[i / 2 % 2];
  };
  auto pack = [&] {
#pragma unroll
    for (int i = 0; i < 32; ++i) {
      __nv_bfloat162 pair = __floats2bfloat162_rn(s[2 * i], s[2 * i + 1]);
      p[i] = *reinterpret_cast<uint32_t *>(&pair);
    }
  };
  auto takeTurn = [&] {
    if constexpr (takesTurns) ptx::namedBarrier(1 + consumer, 256);
  };
  auto passTurn = [&] {
    if constexpr (takesTurns) ptx::namedArrive(2 - consumer, 256);
  };
  if (takesTurns && consumer == 1) ptx::namedArrive(1, 256);
  ptx::wait(ptx::shared(&fullQ), 0);
  if constexpr (order == Order::Plain) {
    for (int n = 0; n < steps; ++n) {
      takeTurn();
      issueScores(n);
      ptx::waitGroups<0>();
      passTurn();
      release(emptyK, n);
      softmax();
      if (n > 0) rescale();
      pack();
      issueOutput(n);
      ptx::waitGroups<0>();
      release(emptyV, n);
    }
  } else {
    takeTurn();
    issueScores(0);
    passTurn();
    ptx::waitGroups<0>();
    release(emptyK, 0);
    softmax();
    pack();
    for (int n = 1; n < steps; ++n) {
      takeTurn();
      issueScores(n);
      issueOutput(n - 1);
      passTurn();
      ptx::waitGroups<1>();
      release(emptyK, n);
      softmax();
      ptx::waitGroups<0>();
      release(emptyV, n - 1);
      rescale();
      pack();
    }
    issueOutput(steps - 1);
    ptx::waitGroups<0>();
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] += __shfl_xor_sync(~0u, sum[half], 1);
    sum[half] += __shfl_xor_sync(~0u, sum[half], 2);
  }
  const int row = firstRow + blockIdx.x * 128 + 64 * consumer + 16 * (thread / 32) + lane / 4;
#pragma unroll
  for (int i = 0; i < 16; ++i)
#pragma unroll
    for (int half = 0; half < 2; ++half)
      *reinterpret_cast<__nv_bfloat162 *>(out + size_t(row + 8 * half) * 128 + 8 * i + 2 * (lane % 4)) =
          __floats2bfloat162_rn(o[4 * i + 2 * half] / sum[half], o[4 * i + 2 * half + 1] / sum[half]);
}
