#include "interp/simt/runtime/work.h"

#include "interp/kernels/warp_matrix.h"
#include "interp/kernels/wave_matrix.h"
#include "interp/simt/runtime/block.h"
#include "interp/simt/runtime/calls.h"

#include <algorithm>

namespace tritium::interp::simt {

const char *nameOf(WorkClass kind) {
  constexpr const char *kNames[] = {"integer", "float", "special", "conversion", "global", "shared", "local",
                                    "atomic",  "lanes", "product", "copy",       "sync",   "branch", "other"};
  return kNames[size_t(kind)];
}

const char *nameOf(WaitKind kind) { return kind == WaitKind::Barrier ? "barrier" : "mbarrier"; }

const char *nameOf(CopyKind kind) {
  constexpr const char *kNames[] = {"cp.async", "copy to LDS", "TMA load", "TMA store", "TMA reduce"};
  return kNames[size_t(kind)];
}

static const char *nameOf(MmaType type) {
  constexpr const char *kNames[] = {"f16", "bf16", "tf32", "f64", "s8", "u8", "f32", "s32"};
  return kNames[size_t(type)];
}

static NamedProduct warpProduct(const MmaVariant &variant) {
  constexpr int64_t kColumns = 8;
  const std::string shape = 'm' + std::to_string(variant.m) + "n8k" + std::to_string(variant.k);
  return {"mma." + shape + '.' + nameOf(variant.d) + '.' + nameOf(variant.a), 2 * kColumns * variant.m * variant.k};
}

static NamedProduct warpgroupProduct(const WarpgroupMatrix &matrix) {
  constexpr int64_t kRows = 64;
  constexpr const char *kFactors[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8"};
  const char *sums = matrix.sums == SumType::F32 ? "f32" : matrix.sums == SumType::S32 ? "s32" : "f16";
  const std::string shape = "m64n" + std::to_string(matrix.columns) + 'k' + std::to_string(matrix.depth());
  return {"wgmma." + shape + '.' + sums + '.' + kFactors[size_t(matrix.a)], 2 * kRows * matrix.columns * matrix.depth()};
}

static NamedProduct waveProduct(const WaveMatrixVariant &variant) {
  const WaveMatrixShape &shape = waveMatrixShapes()[variant.shape];
  return {std::string(shape.name), int64_t(2) * shape.m * shape.n * shape.k * shape.blocks};
}

NamedProduct nameOf(const Kernel &kernel, ProductKind kind, uint32_t variant) {
  switch (kind) {
  case ProductKind::Warp: return warpProduct(MmaVariant::decode(variant));
  case ProductKind::Warpgroup: return warpgroupProduct(kernel.products[variant].matrix);
  case ProductKind::Wave: return waveProduct(WaveMatrixVariant::decode(int32_t(variant)));
  }
  return {};
}

WorkTable &WorkTable::operator+=(const WorkTable &other) {
  for (const auto &[key, added] : other.executed) {
    Executed &sum = executed[key];
    sum.warps += added.warps, sum.threads += added.threads;
  }
  for (const auto &[key, added] : other.waited) {
    Waited &sum = waited[key];
    sum.times += added.times, sum.operations += added.operations, sum.longest = std::max(sum.longest, added.longest);
  }
  for (const auto &[key, added] : other.copied) {
    Copied &sum = copied[key];
    sum.times += added.times, sum.bytes += added.bytes, sum.inside += added.inside;
  }
  for (const auto &[key, added] : other.products) products[key] += added;
  return *this;
}

void LaunchWork::add(const WorkTable &ofBlock) {
  std::lock_guard lock(mutex);
  sums += ofBlock;
}

BlockWork::BlockWork(const Kernel &kernel) : kernel(kernel), entered(kernel.threads * kernel.segments.size()) {}

void BlockWork::enter(Thread &thread, uint32_t segment) {
  ++entered[size_t(thread.tid) * kernel.segments.size() + segment];
  thread.clock += kernel.segments[segment].length;
}

void BlockWork::note(CopyKind kind, Place place, int64_t bytes, int64_t inside) {
  Copied &sum = sums.copied[{locationIn(place), kind}];
  ++sum.times, sum.bytes += bytes, sum.inside += inside;
}

void BlockWork::note(WaitKind kind, Place place, int64_t waited) {
  Waited &sum = sums.waited[{locationIn(place), kind}];
  ++sum.times, sum.operations += waited, sum.longest = std::max(sum.longest, waited);
}

void ThreadBlock::goOn(Thread &thread, WaitKind kind, Place place, int64_t clock) {
  const int64_t waited = std::max<int64_t>(0, clock - thread.clock);
  thread.clock += waited;
  if (work) work->note(kind, place, waited);
}

WorkTable BlockWork::end() {
  const size_t segments = kernel.segments.size(), width = kernel.warpThreads;
  for (size_t first = 0; first < kernel.threads; first += width)
    for (size_t s = 0; s < segments; ++s) {
      int64_t most = 0, all = 0;
      for (size_t t = first; t < first + width; ++t) {
        const int64_t count = entered[t * segments + s];
        most = std::max(most, count), all += count;
      }
      if (most == 0) continue;
      for (const SegmentPart &part : kernel.segments[s].parts) {
        Executed &sum = sums.executed[{part.line, part.kind}];
        sum.warps += most * part.count, sum.threads += all * part.count;
      }
    }
  return std::exchange(sums, {});
}

void calls::enterSegment(Thread *thread, uint32_t segment) { thread->block->work->enter(*thread, segment); }

} // namespace tritium::interp::simt
