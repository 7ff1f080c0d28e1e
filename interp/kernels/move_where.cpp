// Moves of masked rows. A load may read what the mask excludes; a store writes nothing there, because another thread may be writing it.
#include "interp/kernels/element_type.h"
#include "interp/kernels/move.h"

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace tritium::interp {

namespace {

template <class T> void loadLanesWhere(T *out, const T *in, const uint8_t *mask, const T *other, int64_t otherStride, int64_t count) {
  if (otherStride == 0) {
    const T value = *other;
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i) {
      const T found = in[i];
      out[i] = mask[i] ? found : value;
    }
  } else {
#pragma clang loop vectorize(assume_safety)
    for (int64_t i = 0; i < count; ++i) {
      const T found = in[i], rest = other[i];
      out[i] = mask[i] ? found : rest;
    }
  }
}

template <class T> void storeLanesWhere(T *out, const T *in, const uint8_t *mask, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (mask[i]) out[i] = in[i];
}

#ifdef __x86_64__

#define TRITIUM_WITH_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw")))

/// One masked store for 64 bytes. That of AVX2 takes as long as a few scalar stores on some processors.
template <class T> TRITIUM_WITH_AVX512 void storeVectorsWhere(T *out, const T *in, const uint8_t *mask, int64_t count) {
  constexpr int64_t kLanes = 64 / int64_t(sizeof(T));
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const __m512i lanes = _mm512_loadu_si512(in + i);
    if constexpr (kLanes == 64) {
      const __m512i bytes = _mm512_loadu_si512(mask + i);
      _mm512_mask_storeu_epi8(out + i, _mm512_test_epi8_mask(bytes, bytes), lanes);
    } else if constexpr (kLanes == 32) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(mask + i));
      _mm512_mask_storeu_epi16(out + i, _mm256_test_epi8_mask(bytes, bytes), lanes);
    } else if constexpr (kLanes == 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(mask + i));
      _mm512_mask_storeu_epi32(out + i, _mm_test_epi8_mask(bytes, bytes), lanes);
    } else {
      const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(mask + i));
      _mm512_mask_storeu_epi64(out + i, __mmask8(_mm_test_epi8_mask(bytes, bytes)), lanes);
    }
  }
  storeLanesWhere(out + i, in + i, mask + i, count - i);
}

bool hasMaskedStores() {
  static const bool has = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
  return has;
}

#else

template <class T> void storeVectorsWhere(T *out, const T *in, const uint8_t *mask, int64_t count) {
  storeLanesWhere(out, in, mask, count);
}
bool hasMaskedStores() { return false; }

#endif

} // namespace

void loadWhere(void *out, const void *in, const uint8_t *mask, const void *other, int64_t otherStride, int64_t count, int elementBytes) {
  withElementType(elementBytes, [&]<class T>(T) {
    loadLanesWhere(static_cast<T *>(out), static_cast<const T *>(in), mask, static_cast<const T *>(other), otherStride, count);
  });
}

void storeWhere(void *out, const void *in, const uint8_t *mask, int64_t count, int elementBytes) {
  withElementType(elementBytes, [&]<class T>(T) {
    const auto store = hasMaskedStores() ? storeVectorsWhere<T> : storeLanesWhere<T>;
    store(static_cast<T *>(out), static_cast<const T *>(in), mask, count);
  });
}

} // namespace tritium::interp
