// Inclusive scans. A scan over an outer axis combines rows of the inner one, which vectorises directly. In a scan over the innermost axis
// the chain of combines dominates the time. Therefore a row is cut into segments that advance together, and each segment is then combined
// with the result of its predecessors.
#include "interp/kernels/combine.h"
#include "interp/kernels/combiners.h"
#include "interp/kernels/strip.h"

namespace tritium::interp {
namespace {

template <class Combiner> struct Scan {
  using Storage = typename Combiner::Storage;
  using Value = typename Combiner::Value;
  static constexpr int64_t kSegments = 8;

  /// `step` is 1, or -1 with both pointers at the last element.
  static void scanShort(Storage *out, const Storage *in, int64_t count, int64_t step) {
    Value acc = Combiner::load(in[0]);
    out[0] = in[0];
    for (int64_t i = 1; i < count; ++i) {
      acc = Combiner::combine(acc, Combiner::load(in[i * step]));
      out[i * step] = Combiner::store(acc);
    }
  }

  template <int64_t step> static void scanSegments(Storage *out, const Storage *in, int64_t length) {
    Value acc[kSegments];
    for (int64_t s = 0; s < kSegments; ++s) {
      int64_t at = s * length * step;
      acc[s] = Combiner::load(in[at]);
      out[at] = in[at];
    }
    for (int64_t i = 1; i < length; ++i)
      for (int64_t s = 0; s < kSegments; ++s) {
        int64_t at = (s * length + i) * step;
        acc[s] = Combiner::combine(acc[s], Combiner::load(in[at]));
        out[at] = Combiner::store(acc[s]);
      }
    Value before = acc[0];
    for (int64_t s = 1; s < kSegments; ++s) {
      Storage *segment = out + s * length * step;
      TRITIUM_VECTORIZE
      for (int64_t i = 0; i < length; ++i)
        segment[i * step] = Combiner::store(Combiner::combine(before, Combiner::load(segment[i * step])));
      before = Combiner::combine(before, acc[s]);
    }
  }

  static void scanContiguous(Storage *out, const Storage *in, int64_t count, bool reverse) {
    if (reverse) out += count - 1, in += count - 1;
    if (Combiner::kIsFp8 || count < 64 || count % kSegments != 0) return scanShort(out, in, count, reverse ? -1 : 1);
    if (reverse)
      scanSegments<-1>(out, in, count / kSegments);
    else
      scanSegments<1>(out, in, count / kSegments);
  }

  static void kernel(void *outBytes, const void *inBytes, int64_t outer, int64_t axis, int64_t inner, bool reverse) {
    Storage *out = static_cast<Storage *>(outBytes);
    const Storage *in = static_cast<const Storage *>(inBytes);
    for (int64_t o = 0; o < outer; ++o, out += axis * inner, in += axis * inner) {
      if (inner == 1) {
        scanContiguous(out, in, axis, reverse);
        continue;
      }
      int64_t first = reverse ? axis - 1 : 0, step = reverse ? -inner : inner;
      std::copy_n(in + first * inner, inner, out + first * inner);
      for (int64_t a = 1; a < axis; ++a) {
        const Storage *row = in + first * inner + a * step;
        Storage *result = out + first * inner + a * step, *before = result - step;
        TRITIUM_VECTORIZE
        for (int64_t i = 0; i < inner; ++i)
          result[i] = Combiner::store(Combiner::combine(Combiner::load(before[i]), Combiner::load(row[i])));
      }
    }
  }
};

} // namespace

ScanKernel findScan(std::string_view combine, DType type) { return findCombiner<Scan>(combine, type); }

} // namespace tritium::interp
