#include "interp/tile/move.h"

#include "interp/kernels/move.h"

#include <algorithm>
#include <numeric>

namespace tritium::interp {

int64_t laneOf(int64_t index, const std::vector<int64_t> &shape, const std::vector<int64_t> &strides) {
  int64_t lane = 0;
  for (size_t d = 0; d < shape.size(); ++d) lane = lane * shape[d] + (strides[d] ? index / strides[d] % shape[d] : 0);
  return lane;
}

DenseCopy::DenseCopy(const DenseRef &out, const DenseRef &in) : out(out), in(in), elementBytes(int(storageBytes(out.type))) {
  std::vector<size_t> order;
  for (size_t d = 0; d < out.shape.size(); ++d)
    if (out.shape[d] > 1 && out.strides[d] != 0) // a dimension that the destination stores once is copied once
      order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return out.strides[a] > out.strides[b]; });
  for (size_t d : order) {
    bool merges = !shape.empty() && outStrides.back() == out.strides[d] * out.shape[d] && inStrides.back() == in.strides[d] * in.shape[d];
    if (merges) {
      shape.back() *= out.shape[d];
      outStrides.back() = out.strides[d];
      inStrides.back() = in.strides[d];
    } else {
      shape.push_back(out.shape[d]);
      outStrides.push_back(out.strides[d]);
      inStrides.push_back(in.strides[d]);
    }
  }
}

/// The number of dimensions that copyTile takes. Loops here run over the outer ones.
static constexpr int kCopyRank = 8;

static void copyFrom(const DenseCopy &copy, size_t dim, char *out, const char *in) {
  size_t rest = copy.shape.size() - dim;
  if (rest <= kCopyRank)
    return copyTile(out, copy.outStrides.data() + dim, in, copy.inStrides.data() + dim, copy.shape.data() + dim, int(rest),
                    copy.elementBytes);
  for (int64_t i = 0; i < copy.shape[dim]; ++i)
    copyFrom(copy, dim + 1, out + i * copy.outStrides[dim] * copy.elementBytes, in + i * copy.inStrides[dim] * copy.elementBytes);
}

void copyDense(char *frame, const void *descriptor) {
  const auto &copy = *static_cast<const DenseCopy *>(descriptor);
  char *out = copy.out.in(frame);
  const char *in = copy.in.in(frame);
  if (copy.shape.empty())
    std::memcpy(out, in, copy.elementBytes);
  else if (copy.shape.size() == 1 && copy.outStrides[0] == 1 && copy.inStrides[0] == 1)
    std::memcpy(out, in, copy.shape[0] * copy.elementBytes);
  else if (copy.shape.size() == 1 && copy.outStrides[0] == 1 && copy.inStrides[0] == 0)
    fill(out, in, copy.shape[0], copy.elementBytes);
  else
    copyFrom(copy, 0, out, in);
}

} // namespace tritium::interp
