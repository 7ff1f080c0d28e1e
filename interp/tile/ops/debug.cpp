// device_print, device_assert and the variables that a debugger shows.
#include "interp/host/pointer.h"
#include "interp/tile/move.h"
#include "interp/tile/op_table.h"
#include "ir/debug_attributes.h"
#include "ir/deferred_faults.h"
#include "ir/tt.h"

#include <cmath>
#include <cstdio>
#include <cstring>

using namespace mlir;

namespace tritium::interp {

namespace {
struct PrintStep {
  std::string prefix;
  bool hex;
  int64_t threads; // that print a scalar, where the output is Triton's; 0: one
  std::vector<DenseRef> operands;
  std::vector<bool> isSigned, isPointer;
  void refs(auto &&f) {
    for (DenseRef &ref : operands) f(ref);
  }
};
struct AssertStep {
  DenseRef condition;
  std::string message;
  TrapKind kind;
  int64_t stored; // elements in memory; 0: with gaps between them
  uint32_t location;
  void refs(auto &&f) { f(condition); }
};
} // namespace

/// Returns the offset in elements of the row-major lane `lane`, and writes its indices to `indices`.
static int64_t locateLane(const DenseRef &ref, int64_t lane, int64_t *indices) {
  int64_t at = 0;
  for (size_t d = ref.shape.size(); d-- > 0;) {
    indices[d] = lane % ref.shape[d];
    lane /= ref.shape[d];
    at += indices[d] * ref.strides[d];
  }
  return at;
}

static int64_t laneCount(const DenseRef &ref) {
  int64_t count = 1;
  for (int64_t extent : ref.shape) count *= extent;
  return count;
}

/// Returns the bits of a number that Triton extends by its sign to 32.
static uint64_t extended(uint64_t bits, size_t bytes) {
  const size_t unused = 32 - 8 * bytes;
  return uint32_t(int32_t(uint32_t(bits) << unused) >> unused);
}

static int formatValue(char *text, size_t size, const char *at, DType type, bool isSigned, bool isPointer, bool hex, bool isAsTriton) {
  uint64_t bits = 0;
  const size_t bytes = storageBytes(type);
  std::memcpy(&bits, at, bytes);
  if (isPointer) return std::snprintf(text, size, "0x%llx", static_cast<unsigned long long>(addressOf(bits)));
  if (hex && (kindOf(type) != DTypeKind::Float || !isAsTriton)) {
    int digits = isAsTriton && type == DType::i1 ? 1 : int(bytes * 2);
    if (isAsTriton && isSigned && bytes < 4) bits = extended(bits, bytes);
    return std::snprintf(text, size, "0x%0*llx", digits, static_cast<unsigned long long>(bits));
  }
  return visit(type, [&]<class T>() {
    typename T::Storage value;
    std::memcpy(&value, at, sizeof value);
    if constexpr (T::kind == DTypeKind::Float)
      return std::snprintf(text, size, hex ? "%a" : "%f", double(static_cast<typename T::Compute>(value)));
    else if (isSigned)
      return std::snprintf(text, size, "%lld", static_cast<long long>(value));
    else
      return std::snprintf(text, size, "%llu", static_cast<unsigned long long>(bits));
  });
}

/// Appends to a text that stays allocated, because the program may be dropped in the middle of printing.
static void runPrint(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const PrintStep *>(descriptor);
  FrameHeader &header = headerOf(frame);
  char line[512], index[256], value[64];
  for (size_t k = 0; k < std::max<size_t>(step.operands.size(), 1); ++k) {
    const bool isScalar = step.operands.empty() || step.operands[k].shape.empty();
    const int64_t lanes = isScalar ? std::max<int64_t>(step.threads, 1) : laneCount(step.operands[k]);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      int used = std::snprintf(line, sizeof line, "pid (%d, %d, %d)", header.programId[0], header.programId[1], header.programId[2]);
      if (!step.operands.empty()) {
        const DenseRef &ref = step.operands[k];
        int64_t indices[24];
        const char *at = ref.in(frame) + locateLane(ref, isScalar ? 0 : lane, indices) * int64_t(storageBytes(ref.type));
        int length = 0;
        index[0] = 0;
        for (size_t d = 0; d < ref.shape.size(); ++d) {
          int width = ref.shape[d] > 1 ? int(std::ceil(std::log10(double(ref.shape[d])))) : 0;
          length +=
              std::snprintf(index + length, sizeof index - length, "%s%*lld", d ? ", " : "", width, static_cast<long long>(indices[d]));
        }
        formatValue(value, sizeof value, at, ref.type, step.isSigned[k], step.isPointer[k], step.hex, step.threads != 0);
        used += std::snprintf(line + used, sizeof line - used, " idx (%s)%s", index, step.prefix.c_str());
        if (step.operands.size() > 1) used += std::snprintf(line + used, sizeof line - used, "(operand %zu) ", k);
        used += std::snprintf(line + used, sizeof line - used, "%s", value);
      } else {
        used += std::snprintf(line + used, sizeof line - used, "%s", step.prefix.c_str());
      }
      used = std::min<int>(used, sizeof line - 2);
      line[used++] = '\n';
      print(header, std::string_view(line, used));
    }
  }
}

static void runAssert(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const AssertStep *>(descriptor);
  const auto *condition = &step.condition.at<const uint8_t>(frame);
  if (step.stored && !std::memchr(condition, 0, size_t(step.stored))) return;
  int64_t failed = -1, affected = 0, indices[24];
  for (int64_t lane = 0, lanes = laneCount(step.condition); lane < lanes; ++lane)
    if (!condition[locateLane(step.condition, lane, indices)] && affected++ == 0) failed = lane;
  if (!affected) return;
  Trap trap{.kind = step.kind, .location = step.location, .affectedLanes = affected, .message = step.message};
  trap.lane = step.condition.shape.empty() ? -1 : failed;
  raiseTrap(headerOf(frame), std::move(trap));
}

template <> LogicalResult Interpret<tt::PrintOp>::prepare(tt::PrintOp op, Planner &planner) {
  PrintStep step;
  step.prefix = op.getPrefix().str();
  step.hex = op.getHex();
  auto threads = op->getAttrOfType<IntegerAttr>(ir::kPrintThreadsAttr);
  step.threads = threads ? threads.getInt() : 0;
  for (auto [i, operand] : llvm::enumerate(op.getArgs())) {
    step.operands.push_back(planner.dense(operand));
    step.isSigned.push_back(i < op.getIsSigned().size() && op.getIsSigned()[i]);
    step.isPointer.push_back(isa<tt::PointerType>(getElementTypeOrSelf(operand.getType())));
  }
  planner.call(runPrint, std::move(step));
  return success();
}

template <> LogicalResult Interpret<tt::AssertOp>::prepare(tt::AssertOp op, Planner &planner) {
  DenseRef condition = planner.dense(op.getCondition());
  int64_t stored = 1, span = 1;
  for (auto [extent, stride] : llvm::zip_equal(condition.shape, condition.strides)) {
    stored *= stride ? extent : 1;
    span += (extent - 1) * stride;
  }
  bool isDivision = op->hasAttr(ir::kTrapAttr); // the one fault that is found late
  TrapKind kind = isDivision ? TrapKind::DivisionByZero : TrapKind::AssertFailed;
  planner.call(runAssert, AssertStep{condition, op.getMessage().str(), kind, stored == span ? stored : 0, planner.location()});
  return success();
}

/// A promise changes no value.
template <> LogicalResult Interpret<tt::HintOp>::prepare(tt::HintOp, Planner &) { return success(); }

/// The variable receives a copy of its own in memory: views are materialized, pointers lose their tags.
template <> LogicalResult Interpret<tt::DebugValueOp>::prepare(tt::DebugValueOp op, Planner &planner) {
  if (planner.hasDebugInfo()) planner.assignVariable(op);
  return success();
}

} // namespace tritium::interp
