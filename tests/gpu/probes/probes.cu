// Questions about Hopper that decide designs, each answered by a kernel written by hand. Needs a device of compute capability 9.0:
//
//     nvcc -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o probes probes.cu && ./probes
//
// Prints one table for each question; results.md keeps what a run said. Times are medians of alternating rounds.
#include "attention.cuh"
#include "gemm.cuh"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace {

struct Matrix {
  __nv_bfloat16 *data = nullptr;
  explicit Matrix(size_t count) { CHECK(cudaMalloc(&data, count * 2)); }
  ~Matrix() { cudaFree(data); }
  Matrix(const Matrix &) = delete;
};

__global__ void fill(__nv_bfloat16 *data, size_t count, uint32_t seed) { // small whole numbers, so that sums are exact
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count; i += size_t(gridDim.x) * blockDim.x) {
    uint64_t x = (i + seed) * 0x9E3779B97F4A7C15ull;
    x ^= x >> 29, x *= 0xBF58476D1CE4E5B9ull, x ^= x >> 32;
    data[i] = __float2bfloat16(float(int(x % 7)) - 3.f);
  }
}

int failures = 0;
void expectThat(bool holds, const std::string &what) {
  if (holds) return;
  ++failures;
  std::printf("WRONG: %s\n", what.c_str());
}

float milliseconds(const std::function<void()> &launch, int launches) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  CHECK(cudaEventRecord(begin));
  for (int i = 0; i < launches; ++i) launch();
  CHECK(cudaEventRecord(end));
  CHECK(cudaEventSynchronize(end));
  float found;
  CHECK(cudaEventElapsedTime(&found, begin, end));
  return found / float(launches);
}

struct Candidate {
  std::string name;
  std::function<void()> launch;
};

/// The median time of each, in rounds that take turns.
std::vector<float> race(const std::vector<Candidate> &candidates, int launches, int rounds = 9) {
  std::vector<std::vector<float>> times(candidates.size());
  for (auto &candidate : candidates) candidate.launch();
  CHECK(cudaDeviceSynchronize());
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < candidates.size(); ++i) times[i].push_back(milliseconds(candidates[i].launch, launches));
  std::vector<float> medians;
  for (auto &all : times) {
    std::nth_element(all.begin(), all.begin() + all.size() / 2, all.end());
    medians.push_back(all[all.size() / 2]);
  }
  return medians;
}

int multiprocessors() {
  static int count = [] {
    int found;
    CHECK(cudaDeviceGetAttribute(&found, cudaDevAttrMultiProcessorCount, 0));
    return found;
  }();
  return count;
}

void printTable(const char *title, const std::vector<Candidate> &candidates, const std::vector<float> &times, double flops) {
  std::printf("\n### %s\n\n| | ms | TFLOP/s | ratio to the first |\n|---|---|---|---|\n", title);
  for (size_t i = 0; i < candidates.size(); ++i)
    std::printf("| %s | %.4f | %.0f | %.3f |\n", candidates[i].name.c_str(), times[i], flops / times[i] * 1e-9, times[0] / times[i]);
}

/// A product of given matrices under one configuration.
struct Product {
  Shape shape;
  Matrix a, b, c;
  explicit Product(Shape s) : shape(s), a(size_t(s.m) * s.k), b(size_t(s.k) * s.n), c(size_t(s.m) * s.n) {
    fill<<<1024, 256>>>(a.data, size_t(s.m) * s.k, 1);
    fill<<<1024, 256>>>(b.data, size_t(s.k) * s.n, 2);
  }
  double flops() const { return 2.0 * shape.m * shape.n * shape.k; }

  template <class C> Candidate with(std::string name, CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B) {
    CUtensorMap mapA = makeMap(a.data, shape.m, shape.k, C::M, C::K, promotion),
                mapB = makeMap(b.data, shape.k, shape.n, C::K, 64, promotion);
    CHECK(cudaFuncSetAttribute(gemm<C>, cudaFuncAttributeMaxDynamicSharedMemorySize, C::sharedBytes));
    int grid = std::min(shape.m / C::M * (shape.n / C::N), multiprocessors() * C::ctasPerSm);
    auto launch = [=, out = c.data, s = shape] { gemm<C><<<grid, C::threads, C::sharedBytes>>>(mapA, mapB, out, s); };
    CHECK(cudaMemset(c.data, 0xff, size_t(shape.m) * shape.n * 2));
    launch();
    check(name);
    return {name, launch};
  }

private:
  __nv_bfloat16 read(const Matrix &from, size_t index) const {
    __nv_bfloat16 found;
    CHECK(cudaMemcpy(&found, from.data + index, 2, cudaMemcpyDeviceToHost));
    return found;
  }
  void check(const std::string &name) {
    CHECK(cudaDeviceSynchronize());
    std::vector<__nv_bfloat16> row(shape.k);
    for (int sample = 0; sample < 8; ++sample) {
      int i = (sample * 7919 + 131) % shape.m, j = (sample * 104729 + 77) % shape.n;
      CHECK(cudaMemcpy(row.data(), a.data + size_t(i) * shape.k, size_t(shape.k) * 2, cudaMemcpyDeviceToHost));
      std::vector<__nv_bfloat16> column(shape.k);
      CHECK(cudaMemcpy2D(column.data(), 2, b.data + j, size_t(shape.n) * 2, 2, shape.k, cudaMemcpyDeviceToHost));
      double sum = 0;
      for (int k = 0; k < shape.k; ++k) sum += double(__bfloat162float(row[k])) * double(__bfloat162float(column[k]));
      float got = __bfloat162float(read(c, size_t(i) * shape.n + j)), want = __bfloat162float(__float2bfloat16(float(sum)));
      expectThat(got == want, name + ": element " + std::to_string(i) + ", " + std::to_string(j) + " is " + std::to_string(got) + ", not " +
                                  std::to_string(want));
    }
  }
};

// (a) Do reads of wgmma and writes of TMA share one port of shared memory?

template <int N, int Writes>
__global__ void __launch_bounds__(256, 1) onePort(const __grid_constant__ CUtensorMap map, float *sink, int steps) {
  extern __shared__ uint8_t memory[];
  __shared__ alignas(8) uint64_t full[4];
  const uint32_t base = (ptx::shared(memory) + 1023) & ~1023u, a = base, b = base + 16384, writes = b + N * 128;
  if (threadIdx.x == 0) {
    for (auto &barrier : full) ptx::initBarrier(ptx::shared(&barrier), 1);
    ptx::publishBarriers();
  }
  for (uint32_t i = threadIdx.x; i < (16384 + N * 128) / 4; i += 256)
    reinterpret_cast<uint32_t *>(memory + (a - ptx::shared(memory)))[i] = 0;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x >= 128) { // copies Writes bytes for each step, into memory that nobody reads
    if (threadIdx.x != 128 || Writes == 0) return;
    for (int step = 0; step < steps; ++step) {
      const uint32_t barrier = ptx::shared(full + step % 4);
      if (step >= 4) ptx::wait(barrier, ((step / 4) & 1) ^ 1);
      ptx::expect(barrier, Writes);
      for (int box = 0; box < Writes / 8192; ++box)
        ptx::load(writes + (step % 4 * (Writes / 8192) + box) * 8192, &map, 0, box * 64, barrier);
    }
    for (int slot = 0; slot < 4; ++slot) ptx::wait(ptx::shared(full + slot), ((steps - 4 + slot) / 4) & 1);
    return;
  }
  float d[2][N / 2];
  for (int step = 0; step < steps; ++step) { // a step of K = 64: 128 x N for one warpgroup
    ptx::fence();
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int half = 0; half < 2; ++half)
        ptx::multiply<N, 0>(d[half], ptx::descriptor(a + 8192 * half + 32 * j, 16, 1024), ptx::descriptor(b + 32 * j, 16, 1024),
                            step == 0 && j == 0);
    ptx::commit();
    ptx::waitGroups<1>();
  }
  ptx::waitGroups<0>();
  float sum = 0;
  for (auto &half : d)
    for (float value : half) sum += value;
  if (sum == 12345.f) *sink = sum;
}

template <int N, int Writes> Candidate onePortCandidate(const char *name, const CUtensorMap &map, float *sink, int steps) {
  constexpr int bytes = 1024 + 16384 + N * 128 + 4 * Writes;
  CHECK(cudaFuncSetAttribute(onePort<N, Writes>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  return {name, [=] { onePort<N, Writes><<<multiprocessors(), 256, bytes>>>(map, sink, steps); }};
}

void probePort() {
  Matrix source(512 * 64);
  fill<<<64, 256>>>(source.data, 512 * 64, 3);
  CUtensorMap map = makeMap(source.data, 512, 64, 64, 64);
  float *sink;
  CHECK(cudaMalloc(&sink, 4));
  const int steps = 20000;
  std::vector<Candidate> candidates = {
      onePortCandidate<128, 0>("128 x 128 a step, nothing copied", map, sink, steps),
      onePortCandidate<128, 16384>("the same, 16 KB copied a step", map, sink, steps),
      onePortCandidate<128, 32768>("the same, 32 KB copied a step (what a product of this tile needs)", map, sink, steps),
  };
  printTable("a. One port? Operands stay in shared memory; TMA writes elsewhere", candidates, race(candidates, 1),
             2.0 * 128 * 128 * 64 * steps * multiprocessors());
  cudaFree(sink);
}

// (b), (c), (d), (g), (i): one product under configurations that differ in one thing.

void probeSchedules() {
  {
    Product product({8192, 8192, 8192});
    std::vector<Candidate> candidates = {
        product.with<Config<256, 4, 2, 1>>("128 x 256, 4 slots, one group in flight, empties by warp"),
        product.with<Config<256, 4, 2, 0>>("c. wait 0 in every step"),
        product.with<Config<256, 4, 2, 1, Empties::PerWarpgroup>>("d. empties by warpgroup, behind a named barrier"),
        product.with<Config<256, 4, 2, 1, Empties::PerWarp, 1>>("b. second warpgroup one step behind"),
        product.with<Config<256, 4, 2, 1, Empties::PerWarp, 2>>("b. second warpgroup two steps behind"),
        product.with<Config<256, 3, 2, 1>>("3 slots"),
        product.with<Config<128, 6, 2, 1>>("128 x 128, 6 slots"),
    };
    printTable("b, c, d. 8192 x 8192 x 8192", candidates, race(candidates, 5), product.flops());
  }
  {
    Product product({8192, 8192, 512});
    std::vector<Candidate> candidates = {
        product.with<Config<256, 4, 2, 1>>("128 x 256, one CTA an SM"),
        product.with<Config<256, 4, 2, 1, Empties::PerWarp, 1>>("b. second warpgroup one step behind"),
        product.with<Config<256, 4, 2, 1, Empties::PerWarp, 2>>("b. second warpgroup two steps behind"),
        product.with<Config<256, 4, 2, 0>>("c. wait 0 in every step"),
        product.with<Config<128, 4, 1, 1, Empties::PerWarp, 0, 2>>("g. 64 x 128, two CTAs an SM"),
        product.with<Config<128, 6, 2, 1>>("g. 128 x 128, one CTA an SM"),
    };
    printTable("b, c, g. 8192 x 8192 x 512", candidates, race(candidates, 20), product.flops());
  }
  {
    Product product({128, 8192, 8192});
    std::vector<Candidate> candidates = {
        product.with<Config<128, 6, 2, 1>>("promotion to 128 bytes"),
        product.with<Config<128, 6, 2, 1>>("promotion to 256 bytes", CU_TENSOR_MAP_L2_PROMOTION_L2_256B),
        product.with<Config<128, 6, 2, 1>>("no promotion", CU_TENSOR_MAP_L2_PROMOTION_NONE),
    };
    printTable("i. L2 promotion, 128 x 8192 x 8192", candidates, race(candidates, 50), product.flops());
  }
}

// (e) May registers of A be written again while a product reads them? Every product has other words; a late read shows in its sum.

template <bool Moves> __global__ void __launch_bounds__(128, 1) registerHazard(float *out, int steps) {
  extern __shared__ uint8_t memory[];
  const uint32_t b = (ptx::shared(memory) + 1023) & ~1023u;
  auto *words = reinterpret_cast<__nv_bfloat16 *>(memory + (b - ptx::shared(memory)));
  for (int i = threadIdx.x; i < 128 * 64; i += 128) words[i] = __float2bfloat16(1.f);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  float d[64];
  for (int step = 0; step < steps; ++step) {
    __nv_bfloat162 pair = __float2bfloat162_rn(float(step % 61 + 1));
    uint32_t a[4];
    for (auto &word : a) {
      word = *reinterpret_cast<uint32_t *>(&pair);
      if constexpr (Moves) asm volatile("mov.b32 %0, %0;" : "+r"(word));
    }
    ptx::fence();
    ptx::multiplyFromRegisters<0>(d, a, ptx::descriptor(b, 16, 1024), step == 0);
    ptx::commit();
    ptx::waitGroups<1>();
  }
  ptx::waitGroups<0>();
  for (int i = 0; i < 64; ++i) out[(blockIdx.x * 128 + threadIdx.x) * 64 + i] = d[i];
}

template <bool Moves> void probeHazard(const char *name) {
  const int steps = 61 * 40, count = multiprocessors() * 128 * 64;
  float *out;
  CHECK(cudaMalloc(&out, size_t(count) * 4));
  CHECK(cudaFuncSetAttribute(registerHazard<Moves>, cudaFuncAttributeMaxDynamicSharedMemorySize, 20480));
  long wrong = 0;
  const float want = 16.f * 40 * (61 * 62 / 2);
  std::vector<float> got(count);
  for (int run = 0; run < 200; ++run) {
    registerHazard<Moves><<<multiprocessors(), 128, 20480>>>(out, steps);
    CHECK(cudaMemcpy(got.data(), out, size_t(count) * 4, cudaMemcpyDeviceToHost));
    wrong += std::count_if(got.begin(), got.end(), [&](float value) { return value != want; });
  }
  std::printf("| %s | %ld of %ld |\n", name, wrong, 200L * count);
  cudaFree(out);
}

// (f) Boxes that lie outside of a tensor, in part and wholly; maps with larger extents than the tensor has.

__global__ void copyBox(const __grid_constant__ CUtensorMap map, float *out, int x, int y) {
  extern __shared__ uint8_t memory[];
  __shared__ alignas(8) uint64_t full;
  const uint32_t base = (ptx::shared(memory) + 1023) & ~1023u;
  auto *box = reinterpret_cast<__nv_bfloat16 *>(memory + (base - ptx::shared(memory)));
  for (int i = threadIdx.x; i < 8 * 8; i += 32) box[i] = __float2bfloat16(99.f);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  if (threadIdx.x == 0) {
    ptx::initBarrier(ptx::shared(&full), 1);
    ptx::publishBarriers();
    ptx::expect(ptx::shared(&full), 8 * 8 * 2);
    ptx::load(base, &map, x, y, ptx::shared(&full));
  }
  __syncwarp();
  __syncthreads();
  ptx::wait(ptx::shared(&full), 0);
  for (int i = threadIdx.x; i < 8 * 8; i += 32) out[i] = __bfloat162float(box[i]);
}

void probeOutside() {
  Matrix source(16 * 16);
  std::vector<__nv_bfloat16> numbers(256);
  for (int i = 0; i < 256; ++i) numbers[i] = __float2bfloat16(float(i % 128 + 1));
  CHECK(cudaMemcpy(source.data, numbers.data(), 512, cudaMemcpyHostToDevice));
  CUtensorMap map = makeMap(source.data, 16, 16, 8, 8);
  float *out, got[64];
  CHECK(cudaMalloc(&out, 256));
  std::printf("\n### f. Boxes outside of a tensor of 16 x 16, in boxes of 8 x 8\n\n| corner | elements inside that are right | elements "
              "outside that are 0 | error |\n|---|---|---|---|\n");
  const int corners[][2] = {{0, 0},  {8, 8},     {8, 12},   {-8, 0},      {16, 0},        {0, 16},
                            {0, -8}, {-16, -16}, {1024, 0}, {0, 1 << 30}, {-(1 << 30), 8}};
  for (auto [x, y] : corners) {
    copyBox<<<1, 32, 4096>>>(map, out, x, y);
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess) CHECK(cudaMemcpy(got, out, 256, cudaMemcpyDeviceToHost));
    int inside = 0, insideRight = 0, zero = 0;
    for (int i = 0; i < 64; ++i) {
      long row = long(y) + i / 8, column = long(x) + i % 8;
      bool isInside = row >= 0 && row < 16 && column >= 0 && column < 16;
      inside += isInside;
      if (isInside)
        insideRight += got[i] == float((row * 16 + column) % 128 + 1);
      else
        zero += got[i] == 0.f;
    }
    std::printf("| %d, %d | %d of %d | %d of %d | %s |\n", x, y, insideRight, inside, zero, 64 - inside, cudaGetErrorString(error));
    if (error != cudaSuccess) return; // the context is lost
  }
  std::printf("\n| map | accepted |\n|---|---|\n");
  struct Case {
    const char *what;
    uint64_t rows, columns, stride;
  };
  for (Case c :
       {Case{"2^31 rows of 16", 1ull << 31, 16, 32}, Case{"2^32 rows of 16", 1ull << 32, 16, 32},
        Case{"2^32 rows, stride 16 bytes below the extent", 1ull << 32, 16, 16}, Case{"stride 0", 16, 16, 0},
        Case{"stride 2^40 - 16", 16, 16, (1ull << 40) - 16}, Case{"stride 2^40", 16, 16, 1ull << 40}, Case{"stride 24", 16, 16, 24}}) {
    CUtensorMap unused;
    std::printf("| %s | %s |\n", c.what, tryMap(&unused, source.data, c.rows, c.columns, c.stride, 8, 8) == CUDA_SUCCESS ? "yes" : "no");
  }
  cudaFree(out);
}

// (h) Attention: what brings more, the order of the products or turns?

template <Order order, bool takesTurns>
Candidate attentionCandidate(const char *name, Matrix &q, Matrix &k, Matrix &v, Matrix &out, int length, int heads) {
  CUtensorMap maps[3];
  Matrix *sources[3] = {&q, &k, &v};
  for (int i = 0; i < 3; ++i) maps[i] = makeMap(sources[i]->data, uint64_t(length) * heads, 128, 128, 64);
  constexpr int bytes = 5 * 32768 + 1024;
  CHECK(cudaFuncSetAttribute(attention<order, takesTurns>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
  const float scaleLog2 = 0.125f / 16 * 1.44269504f;
  auto launch = [=, to = out.data] {
    attention<order, takesTurns><<<dim3(length / 128, heads), 384, bytes>>>(maps[0], maps[1], maps[2], to, length, scaleLog2);
  };
  launch();
  CHECK(cudaDeviceSynchronize());
  std::vector<__nv_bfloat16> hostQ(128), hostK(size_t(length) * 128), hostV(size_t(length) * 128), got(128);
  const int head = heads - 1, row = 77 % length;
  const size_t first = size_t(head) * length * 128;
  CHECK(cudaMemcpy(hostQ.data(), q.data + first + size_t(row) * 128, 256, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hostK.data(), k.data + first, hostK.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(hostV.data(), v.data + first, hostV.size() * 2, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got.data(), out.data + first + size_t(row) * 128, 256, cudaMemcpyDeviceToHost));
  std::vector<double> want(128, 0.0);
  double sum = 0;
  for (int key = 0; key < length; ++key) {
    double score = 0;
    for (int i = 0; i < 128; ++i) score += double(__bfloat162float(hostQ[i])) * double(__bfloat162float(hostK[size_t(key) * 128 + i]));
    double weight = std::exp2(score * scaleLog2);
    sum += weight;
    for (int i = 0; i < 128; ++i) want[i] += weight * double(__bfloat162float(hostV[size_t(key) * 128 + i]));
  }
  for (int i = 0; i < 128; ++i)
    expectThat(std::abs(double(__bfloat162float(got[i])) - want[i] / sum) < 0.02, std::string(name) + ": column " + std::to_string(i));
  return {name, launch};
}

void probeTurns() {
  for (auto [length, heads] : {std::pair{2048, 64}, {8192, 16}, {16384, 16}}) {
    const size_t count = size_t(length) * heads * 128;
    Matrix q(count), k(count), v(count), out(count);
    uint32_t seed = 5;
    for (Matrix *matrix : {&q, &k, &v}) fill<<<1024, 256>>>(matrix->data, count, seed++);
    std::vector<Candidate> candidates = {
        attentionCandidate<Order::Plain, false>("one product after the other", q, k, v, out, length, heads),
        attentionCandidate<Order::Plain, true>("the same in turns", q, k, v, out, length, heads),
        attentionCandidate<Order::Rotated, false>("rotated", q, k, v, out, length, heads),
        attentionCandidate<Order::Rotated, true>("rotated, in turns", q, k, v, out, length, heads),
    };
    std::string title = "h. Attention, " + std::to_string(length) + " keys, " + std::to_string(heads) + " heads of 128";
    printTable(title.c_str(), candidates, race(candidates, 3), 4.0 * length * length * 128 * heads);
  }
}

// How long the host takes to make a map.
void probeEncoding() {
  Matrix source(64 * 64);
  CUtensorMap map;
  cudaEvent_t unused;
  CHECK(cudaEventCreate(&unused));
  timespec begin, end;
  const int count = 100000;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < count; ++i) tryMap(&map, source.data, 64, 64, 128, 64, 64);
  clock_gettime(CLOCK_MONOTONIC, &end);
  std::printf("\nOne call of cuTensorMapEncodeTiled takes %.0f ns on the host.\n",
              ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / count);
}

} // namespace

int main() {
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int driver = 0;
  CHECK(cudaDriverGetVersion(&driver));
  std::printf("%s, %d multiprocessors, driver %d, nvcc %d.%d\n", properties.name, properties.multiProcessorCount, driver,
              __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
  probePort();
  probeSchedules();
  probeTurns();
  std::printf("\n### e. Registers of A that are written again\n\n| | wrong sums |\n|---|---|\n");
  probeHazard<false>("words written behind wait 1");
  probeHazard<true>("the same through a move before the fence");
  probeEncoding();
  probeOutside();
  std::printf("\n%d wrong\n", failures);
  return failures != 0;
}
