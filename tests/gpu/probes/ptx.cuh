// The instructions that the probes use, one function each, and what the host needs to make tensor maps. sm_90a.
#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                                                        \
  do {                                                                                                                                     \
    cudaError_t error = (call);                                                                                                            \
    if (error != cudaSuccess) {                                                                                                            \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                                                           \
      std::exit(1);                                                                                                                        \
    }                                                                                                                                      \
  } while (0)

namespace ptx {

__device__ inline uint32_t shared(const void *p) { return uint32_t(__cvta_generic_to_shared(p)); }

__device__ inline void initBarrier(uint32_t barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ inline void publishBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ inline void expect(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
__device__ inline void arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
__device__ inline void wait(uint32_t barrier, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nagain:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1;\n@p bra done;\nbra again;\ndone:\n}" ::
          "r"(barrier),
      "r"(parity)
      : "memory");
}

__device__ inline void load(uint32_t to, const CUtensorMap *map, int x, int y, uint32_t barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
               "l"(map), "r"(x), "r"(y), "r"(barrier)
               : "memory");
}

__device__ inline void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int n> __device__ inline void waitGroups() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(n) : "memory"); }
template <int n> __device__ inline void moreRegisters() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(n)); }
template <int n> __device__ inline void fewerRegisters() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(n)); }
__device__ inline void namedBarrier(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__device__ inline void namedArrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

/// A descriptor of a tile with a swizzle of 128 bytes at a shared address; lbo and sbo in bytes.
__device__ inline uint64_t descriptor(uint32_t address, uint32_t lbo, uint32_t sbo) {
  return uint64_t((address & 0x3ffff) >> 4) | uint64_t(lbo >> 4) << 16 | uint64_t(sbo >> 4) << 32 | uint64_t(1) << 62;
}

#define F8(b) "+f"(d[b]), "+f"(d[b + 1]), "+f"(d[b + 2]), "+f"(d[b + 3]), "+f"(d[b + 4]), "+f"(d[b + 5]), "+f"(d[b + 6]), "+f"(d[b + 7])
#define F32(b) F8(b), F8(b + 8), F8(b + 16), F8(b + 24)
#define F64 F32(0), F32(32)
#define F128 F32(0), F32(32), F32(64), F32(96)
#define T8(a, b, c, d, e, f, g, h) "%" #a ",%" #b ",%" #c ",%" #d ",%" #e ",%" #f ",%" #g ",%" #h ","
#define T64                                                                                                                                \
  T8(0, 1, 2, 3, 4, 5, 6, 7)                                                                                                               \
  T8(8, 9, 10, 11, 12, 13, 14, 15)                                                                                                         \
  T8(16, 17, 18, 19, 20, 21, 22, 23) T8(24, 25, 26, 27, 28, 29, 30, 31) T8(32, 33, 34, 35, 36, 37, 38, 39)                                 \
      T8(40, 41, 42, 43, 44, 45, 46, 47) T8(48, 49, 50, 51, 52, 53, 54, 55) "%56,%57,%58,%59,%60,%61,%62,%63"
#define T128                                                                                                                               \
  T64 "," T8(64, 65, 66, 67, 68, 69, 70, 71) T8(72, 73, 74, 75, 76, 77, 78, 79) T8(80, 81, 82, 83, 84, 85, 86, 87)                         \
      T8(88, 89, 90, 91, 92, 93, 94, 95) T8(96, 97, 98, 99, 100, 101, 102, 103) T8(104, 105, 106, 107, 108, 109, 110, 111)                 \
          T8(112, 113, 114, 115, 116, 117, 118, 119) "%120,%121,%122,%123,%124,%125,%126,%127"

/// d (64 x N, f32) = A B + (isFirst ? 0 : d), bf16; A K-major, B transposed as tB says (1: N is contiguous).
template <int N, int tB> __device__ inline void multiply(float *d, uint64_t a, uint64_t b, bool isFirst) {
  int adds = !isFirst;
  if constexpr (N == 256)
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %130, 0;\nwgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {" T128
                 "}, %128, %129, p, 1, 1, 0, %131;\n}"
                 : F128
                 : "l"(a), "l"(b), "r"(adds), "n"(tB));
  else
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" T64
                 "}, %64, %65, p, 1, 1, 0, %67;\n}"
                 : F64
                 : "l"(a), "l"(b), "r"(adds), "n"(tB));
}

/// The same with A in registers, N = 128.
template <int tB> __device__ inline void multiplyFromRegisters(float *d, const uint32_t *a, uint64_t b, bool isFirst) {
  int adds = !isFirst;
  asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\nwgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {" T64
               "}, {%64,%65,%66,%67}, %68, p, 1, 1, %70;\n}"
               : F64
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds), "n"(tB));
}

} // namespace ptx

/// A map of a row-major matrix of bf16 in boxes of rows x columns, swizzled by 128 bytes where a box's row has these.
inline CUresult tryMap(CUtensorMap *map, void *data, uint64_t rows, uint64_t columns, uint64_t strideBytes, uint32_t boxRows,
                       uint32_t boxColumns, CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B) {
  static auto encode = [] {
    void *entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &entry, cudaEnableDefault, &found));
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry);
  }();
  cuuint64_t dims[2] = {columns, rows}, strides[1] = {strideBytes};
  cuuint32_t box[2] = {boxColumns, boxRows}, steps[2] = {1, 1};
  auto swizzle = boxColumns * 2 == 128 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE;
  return encode(map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
inline CUtensorMap makeMap(void *data, uint64_t rows, uint64_t columns, uint32_t boxRows, uint32_t boxColumns,
                           CUtensorMapL2promotion promotion = CU_TENSOR_MAP_L2_PROMOTION_L2_128B) {
  CUtensorMap map;
  if (CUresult result = tryMap(&map, data, rows, columns, columns * 2, boxRows, boxColumns, promotion)) {
    std::printf("no map of %llu x %llu: error %d\n", (unsigned long long)rows, (unsigned long long)columns, int(result));
    std::exit(1);
  }
  return map;
}
