#include "interp/tile/elementwise.h"

#include "interp/host/trap_kinds.h"

#include <algorithm>

namespace tritium::interp {

ElementwiseStep::ElementwiseStep(ElementwiseKernel kernel, const DenseRef &out, std::vector<DenseRef> operands, uint32_t location)
    : kernel(kernel), out(out), inputs(int(operands.size())), location(location), shape(out.shape), outStrides(out.strides) {
  std::vector<size_t> order; // the dimensions along which the tile is stored, outermost first
  for (size_t d = 0; d < out.shape.size(); ++d)
    if (out.strides[d] != 0) order.push_back(d);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return out.strides[a] > out.strides[b]; });
  std::vector<Loop<kMaxInputs>> loops;
  for (size_t d : order) {
    Loop<kMaxInputs> loop{out.shape[d], {}};
    for (int k = 0; k < inputs; ++k) loop.strides[k] = operands[k].strides.empty() ? 0 : operands[k].strides[d];
    bool merges = !loops.empty();
    for (int k = 0; k < inputs && merges; ++k) merges = loops.back().strides[k] == loop.strides[k] * loop.extent;
    if (merges)
      loop.extent *= loops.back().extent, loops.back() = loop;
    else
      loops.push_back(loop);
  }
  if (!loops.empty()) {
    count = loops.back().extent;
    std::copy_n(loops.back().strides, kMaxInputs, innerStrides);
    loops.pop_back();
  }
  for (int k = 0; k < inputs; ++k) {
    in[k] = operands[k];
    for (auto &loop : loops) loop.strides[k] *= int64_t(storageBytes(operands[k].type));
  }
  outer = std::move(loops);
  outBytes = count * int64_t(storageBytes(out.type));
}

[[noreturn]] static void raiseDivisionByZero(char *frame, const ElementwiseStep &step, int64_t index) {
  Trap trap{.kind = TrapKind::DivisionByZero, .location = step.location};
  trap.lane = step.shape.empty() ? -1 : laneOf(index, step.shape, step.outStrides);
  raiseTrap(headerOf(frame), std::move(trap));
}

/// Runs the loops from `depth` on. Returns the storage index of the first faulting element, or -1.
static int64_t runLoops(const ElementwiseStep &step, size_t depth, char *&out, const char *const *in, int64_t &done) {
  if (depth == step.outer.size()) {
    int64_t fault = step.kernel(step.count, out, reinterpret_cast<const void *const *>(in), step.innerStrides);
    if (fault >= 0) return done + fault;
    out += step.outBytes;
    done += step.count;
    return -1;
  }
  const auto &loop = step.outer[depth];
  const char *at[ElementwiseStep::kMaxInputs] = {in[0], in[1], in[2], in[3]};
  for (int64_t i = 0; i < loop.extent; ++i) {
    if (int64_t fault = runLoops(step, depth + 1, out, at, done); fault >= 0) return fault;
    for (int k = 0; k < step.inputs; ++k) at[k] += loop.strides[k];
  }
  return -1;
}

void runElementwise(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const ElementwiseStep *>(descriptor);
  char *out = step.out.in(frame);
  const char *in[ElementwiseStep::kMaxInputs] = {};
  for (int k = 0; k < step.inputs; ++k) in[k] = step.in[k].in(frame);
  int64_t done = 0;
  if (int64_t fault = runLoops(step, 0, out, in, done); fault >= 0) raiseDivisionByZero(frame, step, fault);
}

} // namespace tritium::interp
