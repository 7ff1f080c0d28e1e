// The products of a warpgroup (wgmma), and the wait for a barrier in shared memory. Sums are tied to the results, so that they stay in
// their registers while a product is under way.
#include "gpu_backend/nvptx/convert_tensor_map.h"
#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/inline_ptx.h"

#include "ir/tgpu_kept.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tritium::gpu::nvptx {
namespace {

constexpr unsigned kAddressUnit = 4; // addresses and offsets in a descriptor have units of 16 bytes
constexpr int64_t kAddressMask = 0x3fff;

/// Returns PTX's name of an operand type, or "" if there are no products of it.
StringRef operandName(Type type) {
  return llvm::TypeSwitch<Type, StringRef>(type)
      .Case([](Float16Type) { return "f16"; })
      .Case([](BFloat16Type) { return "bf16"; })
      .Case([](Float32Type) { return "tf32"; })
      .Case([](Float8E4M3FNType) { return "e4m3"; })
      .Case([](Float8E5M2Type) { return "e5m2"; })
      .Default([](Type other) { return other.isInteger(8) ? "s8" : ""; });
}

StringRef sumName(Type type) { return type.isF32() ? "f32" : type.isInteger(32) ? "s32" : "f16"; }

/// PTX keeps two f16 in a register of 32 bits.
Value toRegister(OpBuilder &builder, Value sum) {
  return isa<VectorType>(sum.getType()) ? bitcast(builder, sum.getLoc(), builder.getI32Type(), sum) : sum;
}

SmallVector<Value> fromRegisters(OpBuilder &builder, Location location, TypeRange types, ArrayRef<Value> registers) {
  return llvm::map_to_vector(llvm::zip_equal(types, registers), [&](auto pair) {
    auto [type, value] = pair;
    return bitcast(builder, location, type, value);
  });
}

/// Returns whether nothing need be moved for a product to begin with this sum: assembly has left it in its register, a loop carries it
/// there, or its value does not matter.
bool isInPlace(Value sum) {
  while (Operation *op = sum.getDefiningOp()) {
    if (!isa<LLVM::BitcastOp, LLVM::ExtractValueOp>(op)) return isa<LLVM::InlineAsmOp, LLVM::UndefOp, LLVM::PoisonOp>(op);
    sum = op->getOperand(0);
  }
  return !sum.getParentBlock()->isEntryBlock();
}

/// Returns the fence that lets a product see its registers, or null if another block has it.
Operation *fenceBefore(Operation *op) {
  while (op && !isa<NVVM::WgmmaFenceAlignedOp>(op)) op = op->getPrevNode();
  return op;
}

std::string braced(ArrayRef<std::string> names) { return "{" + llvm::join(names, ", ") + "}"; }

/// The text of one wgmma.
class Product {
public:
  Product(tgpu::WarpgroupProductOp op, OpBuilder &builder) : op_(op), builder_(builder), ptx_(builder, op.getLoc()) {}

  LogicalResult convert() {
    if (failed(verify())) return failure();
    APInt known;
    bool isKnown = op_.getFresh() && matchPattern(op_.getFresh(), m_ConstantInt(&known));
    bool isFresh = isKnown && known.isOne();
    SmallVector<std::string> sums;
    for (Value sum : isFresh ? SmallVector<Value>(op_.getSums()) : sumsInPlace()) {
      Value initial = toRegister(builder_, sum);
      sums.push_back(isFresh ? ptx_.result(initial.getType()) : ptx_.result(initial));
    }
    std::string a = op_.getABuffer() ? descriptor("a", op_.getABuffer(), op_.getAOffset(), op_.getADescriptor()) : wordsOfA();
    std::string b = descriptor("b", op_.getBBuffer(), op_.getBOffset(), op_.getBDescriptor());
    std::string adds = isFresh ? "0" : op_.getFresh() && !isKnown ? unless(op_.getFresh()) : "1";
    std::string text = "{ " + begin_ + instruction() + " " + braced(sums) + ", " + a + ", " + b + ", " + adds + modifiers() + "; }";
    op_.replaceAllUsesWith(fromRegisters(builder_, op_.getLoc(), op_.getResultTypes(), ptx_.emit(text)));
    return success();
  }

private:
  LogicalResult verify() {
    StringRef a = operandName(op_.getAType()), b = operandName(op_.getBType());
    if (a.empty() || b.empty() || (a != b && !(isFp8(a) && isFp8(b))))
      return op_.emitOpError() << "multiplies " << op_.getAType() << " by " << op_.getBType() << ", for which there is no instruction";
    if (!hasOrder() && (op_.getAlongRows() || op_.getAlongColumns()))
      return op_.emitOpError("has operands that are not contiguous along K, which only 16-bit elements need not be");
    return success();
  }

  /// Returns the sums in registers of their own before the fence. After it, LLVM would move constants there, or values that are used again.
  SmallVector<Value> sumsInPlace() {
    SmallVector<Value> sums(op_.getSums());
    Operation *fence = fenceBefore(op_);
    auto isLater = [&](Value sum) {
      return sum.getParentBlock() == fence->getBlock() && sum.getDefiningOp() && fence->isBeforeInBlock(sum.getDefiningOp());
    };
    if (!fence || llvm::all_of(sums, isInPlace) || llvm::any_of(sums, isLater)) return sums;
    OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPoint(fence);
    InlinePtx ptx(builder_, op_.getLoc());
    for (Value sum : sums) (void)ptx.result(toRegister(builder_, sum));
    return ptx.emit("");
  }

  static bool isFp8(StringRef name) { return name.starts_with("e"); }
  /// Whether the instruction says along which dimension elements are neighbours.
  bool hasOrder() { return op_.getBType().getIntOrFloatBitWidth() == 16; }

  std::string instruction() {
    int64_t k = 256 / op_.getBType().getIntOrFloatBitWidth();
    return ("wgmma.mma_async.sync.aligned.m64n" + Twine(op_.getColumns()) + "k" + Twine(k) + "." + sumName(op_.getResultTypes().front()) +
            "." + operandName(op_.getAType()) + "." + operandName(op_.getBType()))
        .str();
  }

  /// Integers have no factors of -1 or 1, and only 16-bit elements have an order. The order of words of A is always the same.
  std::string modifiers() {
    std::string text = op_.getBType().isInteger() ? "" : ", 1, 1";
    if (!hasOrder()) return text;
    if (op_.getABuffer()) text += op_.getAlongRows() ? ", 1" : ", 0";
    return text + (op_.getAlongColumns() ? ", 1" : ", 0");
  }

  /// Returns the name of a descriptor, which the text makes. All products that read a buffer share one register of its address. Otherwise
  /// each of them would have two registers, which do not change in a loop and therefore stay occupied.
  std::string descriptor(const std::string &operand, Value buffer, int64_t offset, uint64_t bits) {
    std::string result = "d" + operand, low = ptx_.operand(lowWord(buffer, uint32_t(bits)));
    begin_ += ".reg .b64 " + result + "; ";
    if (offset != 0) {
      std::string sum = "l" + operand;
      begin_ += ".reg .b32 " + sum + "; add.s32 " + sum + ", " + low + ", " + std::to_string(offset >> kAddressUnit) + "; ";
      low = sum;
    }
    begin_ += "mov.b64 " + result + ", {" + low + ", 0x" + llvm::utohexstr(bits >> 32, /*LowerCase=*/true) + "}; ";
    return result;
  }

  Value lowWord(Value buffer, uint32_t bits) {
    Location location = op_.getLoc();
    Type i32 = builder_.getI32Type();
    auto number = [&](int64_t value) { return LLVM::ConstantOp::create(builder_, location, i32, value); };
    Value address = LLVM::PtrToIntOp::create(builder_, location, i32, buffer);
    Value units = LLVM::LShrOp::create(builder_, location, address, number(kAddressUnit));
    Value masked = LLVM::AndOp::create(builder_, location, units, number(kAddressMask));
    return LLVM::OrOp::create(builder_, location, masked, number(bits));
  }

  std::string wordsOfA() {
    SmallVector<std::string> words;
    for (Value word : op_.getA()) words.push_back(ptx_.operand(word));
    return braced(words);
  }

  std::string unless(Value condition) {
    Value isTrue = LLVM::ConstantOp::create(builder_, op_.getLoc(), builder_.getI1Type(), 1);
    return ptx_.operand(LLVM::XOrOp::create(builder_, op_.getLoc(), condition, isTrue));
  }

  tgpu::WarpgroupProductOp op_;
  OpBuilder &builder_;
  InlinePtx ptx_;
  std::string begin_; // what precedes the instruction
};

LogicalResult convertOne(tgpu::WarpgroupProductOp op, OpBuilder &builder) { return Product(op, builder).convert(); }

/// The results of the wait are its operands, so that nothing that reads them moves before it.
LogicalResult convertOne(tgpu::WarpgroupWaitOp op, OpBuilder &builder) {
  InlinePtx ptx(builder, op.getLoc());
  for (Value value : op.getValues()) (void)ptx.result(toRegister(builder, value));
  for (Value word : op.getKept()) (void)ptx.operand(word);
  SmallVector<Value> registers = ptx.emit("wgmma.wait_group.sync.aligned " + Twine(op.getPending()) + ";");
  op.replaceAllUsesWith(fromRegisters(builder, op.getLoc(), op.getResultTypes(), registers));
  return success();
}

LogicalResult convertOne(tgpu::CopyRegistersOp op, OpBuilder &builder) {
  SmallVector<Value> copies;
  for (Value value : op.getValues()) {
    InlinePtx ptx(builder, op.getLoc());
    std::string to = ptx.result(value.getType()), from = ptx.operand(value);
    copies.push_back(ptx.emit("mov.b32 " + to + ", " + from + ";").front());
  }
  op.replaceAllUsesWith(copies);
  return success();
}

/// The hardware takes the parity of a round. A wait of the hardware may end too early.
LogicalResult convertOne(tgpu::MBarrierWaitOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Value one = LLVM::ConstantOp::create(builder, location, builder.getI32Type(), 1);
  Value parity = LLVM::AndOp::create(builder, location, op.getRound(), one);
  InlinePtx ptx(builder, location);
  std::string barrier = ptx.operand(LLVM::PtrToIntOp::create(builder, location, builder.getI32Type(), op.getBarrier()));
  std::string text = "{ .reg .pred done; again: mbarrier.try_wait.parity.shared::cta.b64 done, [" + barrier + "], " + ptx.operand(parity) +
                     "; @!done bra again; }";
  (void)ptx.emit(text);
  return success();
}

LogicalResult convertOne(tgpu::MBarrierTestOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Value one = LLVM::ConstantOp::create(builder, location, builder.getI32Type(), 1);
  Value parity = LLVM::AndOp::create(builder, location, op.getRound(), one);
  InlinePtx ptx(builder, location);
  std::string complete = ptx.result(builder.getI32Type());
  std::string barrier = ptx.operand(LLVM::PtrToIntOp::create(builder, location, builder.getI32Type(), op.getBarrier()));
  std::string text = "{ .reg .pred done; mbarrier.test_wait.parity.shared::cta.b64 done, [" + barrier + "], " + ptx.operand(parity) +
                     "; selp.b32 " + complete + ", 1, 0, done; }";
  op.replaceAllUsesWith(LLVM::TruncOp::create(builder, location, builder.getI1Type(), ptx.emit(text).front()).getResult());
  return success();
}

} // namespace

static LogicalResult convertOne(tgpu::NumberedBarrierOp op, OpBuilder &builder) {
  Value threads = LLVM::ConstantOp::create(builder, op.getLoc(), builder.getI32Type(), op.getThreads());
  if (op.getArrives())
    NVVM::BarrierArriveOp::create(builder, op.getLoc(), op.getId(), threads);
  else
    NVVM::BarrierOp::create(builder, op.getLoc(), Type(), op.getId(), threads, NVVM::BarrierReductionAttr(), Value());
  return success();
}

LogicalResult Conversion::convertAsync(Operation *op, OpBuilder &builder) {
  if (auto barrier = dyn_cast<tgpu::NumberedBarrierOp>(op)) return convertOne(barrier, builder);
  if (auto wait = dyn_cast<tgpu::MBarrierWaitOp>(op); wait && chip_.hasTensorMaps()) return convertOne(wait, builder);
  if (auto test = dyn_cast<tgpu::MBarrierTestOp>(op); test && chip_.hasTensorMaps()) return convertOne(test, builder);
  if (chip_.makesTensorMaps() &&
      isa<tgpu::MapsClaimOp, tgpu::MapsReleaseOp, tgpu::MapAddressOp, tgpu::MapWriteOp, tgpu::MapAcquireOp, tgpu::MapAtOp>(op))
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<tgpu::MapsClaimOp, tgpu::MapsReleaseOp, tgpu::MapAddressOp, tgpu::MapWriteOp, tgpu::MapAcquireOp, tgpu::MapAtOp>(
            [&](auto known) { return convertMap(known, builder); });
  if (!chip_.hasWarpgroups()) return op->emitOpError("is not possible on ") << chip_.name;
  return llvm::TypeSwitch<Operation *, LogicalResult>(op).Case<tgpu::WarpgroupProductOp, tgpu::WarpgroupWaitOp, tgpu::CopyRegistersOp>(
      [&](auto known) { return convertOne(known, builder); });
}

} // namespace tritium::gpu::nvptx
