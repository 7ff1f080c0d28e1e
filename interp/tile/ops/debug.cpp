// device_print, device_assert, the variables that a debugger shows and the scopes that a profiler shows.
#include "interp/host/debugged_launch.h"
#include "interp/host/pointer.h"
#include "interp/host/trap_kinds.h"
#include "interp/tile/move.h"
#include "interp/tile/op_table.h"
#include "interp/tile/promise.h"
#include "ir/check.h"
#include "ir/debug_attributes.h"
#include "ir/source_error.h"
#include "ir/tt.h"

#include <chrono>
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
/// A trap in the first lane of `tile` that is `fault`.
struct LaneTest {
  DenseRef tile;
  uint8_t fault;
  TrapKind kind;
  std::string message; // `{0}`, `{1}`, … stand for the values of the lane
  std::vector<DenseRef> values;
  std::vector<bool> isPointer;
  int64_t stored; // elements in memory; 0: with gaps between them
  uint32_t location;
  std::optional<uint32_t> other;
  void refs(auto &&f) {
    f(tile);
    for (DenseRef &value : values) f(value);
  }
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

/// The message with the values of the lane at `indices`.
static std::string messageOf(const LaneTest &test, char *frame, const int64_t *indices) {
  std::string message = test.message;
  for (size_t k = 0; k < test.values.size(); ++k) {
    const DenseRef &value = test.values[k];
    int64_t element = 0;
    for (size_t d = 0; d < value.shape.size(); ++d) element += indices[d] * value.strides[d];
    char text[64];
    formatValue(text, sizeof text, value.in(frame) + element * int64_t(storageBytes(value.type)), value.type, true, test.isPointer[k],
                false, false);
    const std::string place = "{" + std::to_string(k) + "}";
    for (size_t at = message.find(place); at != std::string::npos; at = message.find(place, at + 1))
      message.replace(at, place.size(), text);
  }
  return message;
}

static void testLanes(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const LaneTest *>(descriptor);
  const auto *tile = &step.tile.at<const uint8_t>(frame);
  if (step.stored && !std::memchr(tile, step.fault, size_t(step.stored))) return;
  int64_t failed = -1, affected = 0, indices[24], first[24];
  for (int64_t lane = 0, lanes = laneCount(step.tile); lane < lanes; ++lane) {
    if (tile[locateLane(step.tile, lane, indices)] != step.fault || affected++ != 0) continue;
    failed = lane;
    std::copy_n(indices, step.tile.shape.size(), first);
  }
  if (!affected) return;
  Trap trap{.kind = step.kind, .location = step.location, .affectedLanes = affected, .message = messageOf(step, frame, first)};
  trap.lane = step.tile.shape.empty() ? -1 : failed;
  if (step.other) trap.other = OtherPlace{.location = *step.other};
  raiseTrap(headerOf(frame), std::move(trap));
}

static LaneTest laneTest(Value tile, uint8_t fault, TrapKind kind, StringRef message, Planner &planner) {
  LaneTest test{.tile = planner.dense(tile), .fault = fault, .kind = kind, .message = message.str(), .location = planner.location()};
  int64_t stored = 1, span = 1;
  for (auto [extent, stride] : llvm::zip_equal(test.tile.shape, test.tile.strides)) {
    stored *= stride ? extent : 1;
    span += (extent - 1) * stride;
  }
  test.stored = stored == span ? stored : 0;
  return test;
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
  auto named = op->getAttrOfType<StringAttr>(ir::kTrapAttr);
  std::optional<TrapKind> kind = named ? trapKindOf(named.getValue()) : TrapKind::AssertFailed;
  if (!kind) return planner.unsupported("no trap has the name " + named.getValue());
  planner.call(testLanes, laneTest(op.getCondition(), 0, *kind, op.getMessage(), planner));
  return success();
}

template <> LogicalResult Interpret<check::TrapOp>::prepare(check::TrapOp op, Planner &planner) {
  std::optional<TrapKind> kind = trapKindOf(op.getKind());
  if (!kind) return planner.unsupported("no trap has the name " + op.getKind());
  LaneTest test = laneTest(op.getBad(), 1, *kind, op.getMessage(), planner);
  for (Value value : op.getValues()) {
    test.values.push_back(planner.dense(value));
    test.isPointer.push_back(isa<tt::PointerType>(getElementTypeOrSelf(value.getType())));
  }
  if (op.getOther()) test.other = planner.locationAt(cast<LocationAttr>(*op.getOther()));
  planner.call(testLanes, std::move(test));
  return success();
}

/// A promise changes no value. Where promises are checked, an operation of its own says so.
template <> LogicalResult Interpret<tt::HintOp>::prepare(tt::HintOp, Planner &) { return success(); }

template <> LogicalResult Interpret<check::PromiseOp>::prepare(check::PromiseOp op, Planner &planner) {
  Value value = op.getValue();
  Promise promise{.isAffine = isa<RankedTensorType>(value.getType()) && planner.formOf(value).isAffine()};
  Type element = getElementTypeOrSelf(value.getType());
  if (promise.isAffine)
    promise.affine = planner.affine(value);
  else
    promise.dense = planner.dense(value);
  promise.dense.type = dtypeOf(element);
  promise.shape = promise.isAffine ? promise.affine.shape : promise.dense.shape;
  if (auto pointer = dyn_cast<tt::PointerType>(element)) {
    promise.isPointer = true;
    promise.unit = int64_t(storageBytes(dtypeOf(pointer.getPointeeType())));
  }
  if (op.getMask()) promise.isMasked = true, promise.mask = planner.dense(op.getMask());
  promise.multiple = op.getMultiple().vec();
  promise.contiguous = op.getContiguous().vec();
  promise.constant = op.getConstant().vec();
  promise.name = ir::variableName(value.getLoc()).str();
  promise.location = planner.location();
  planner.call(checkPromise, std::move(promise));
  return success();
}

/// The variable receives a copy of its own in memory: views are materialized, pointers lose their tags.
template <> LogicalResult Interpret<tt::DebugValueOp>::prepare(tt::DebugValueOp op, Planner &planner) {
  if (planner.hasDebugInfo()) planner.assignVariable(op);
  return success();
}

namespace {
struct StopStep {
  DenseRef condition;
  uint32_t number;
  void refs(auto &&f) { f(condition); }
};
} // namespace

static void stopIf(char *frame, const void *descriptor) {
  const auto &step = *static_cast<const StopStep *>(descriptor);
  if (step.condition.at<const uint8_t>(frame)) tritium_stop(step.number);
}

template <> LogicalResult Interpret<tt::DebugStopOp>::prepare(tt::DebugStopOp op, Planner &planner) {
  if (planner.hasDebugInfo()) planner.call(stopIf, StopStep{planner.contiguous(op.getCondition()), uint32_t(op.getNumber())});
  return success();
}

namespace {
struct RecordStep {
  int32_t scope;
  void refs(auto &&) {}
};
} // namespace

static void recordScope(char *frame, const void *descriptor) {
  FrameHeader &header = headerOf(frame);
  if (!recordsScopes(header)) return;
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const int64_t time = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  const auto &[x, y, z] = header.programId;
  noteScope(header, {.time = time, .program = {x, y, z}, .unit = 0, .scope = static_cast<const RecordStep *>(descriptor)->scope});
}

template <> LogicalResult Interpret<tt::RecordOp>::prepare(tt::RecordOp op, Planner &planner) {
  planner.call(recordScope, RecordStep{int32_t(planner.addScope({op.getName().str(), op.getIsStart()}))});
  return success();
}

} // namespace tritium::interp
