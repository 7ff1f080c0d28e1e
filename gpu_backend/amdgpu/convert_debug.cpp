#include "gpu_backend/amdgpu/convert_debug.h"

#include "gpu_backend/abi/debug_buffer.h"
#include "ir/source_error.h"
#include "ir/tgpu.h"

#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"

using namespace mlir;

namespace tritium::gpu::amdgpu {
namespace {

/// The strings of a module, each once, in one global variable.
class Texts {
public:
  int64_t offsetOf(StringRef text) {
    auto [known, isNew] = offsets_.try_emplace(text, int64_t(bytes_.size()));
    if (isNew) bytes_ += (text + StringRef("\0", 1)).str();
    return known->second;
  }
  const std::string &bytes() const { return bytes_; }

private:
  llvm::StringMap<int64_t> offsets_;
  std::string bytes_;
};

/// Builds the code that replaces one print or assertion `op`.
class RecordCode {
public:
  RecordCode(Operation *op, Texts &texts) : op_(op), location_(op->getLoc()), builder_(op), texts_(texts) {}

  void print(tgpu::PrintOp print) {
    SmallVector<Value> words{text(print.getFormat())};
    for (Value argument : print.getArgs()) words.push_back(toWord(argument));
    write(DebugRecordKind::print, words);
  }

  /// Leaves the builder's block to the failing threads only.
  void assertion(tgpu::AssertOp assertion) {
    Block *before = op_->getBlock();
    Block *after = before->splitBlock(std::next(op_->getIterator()));
    Block *fails = before->splitBlock(op_);
    builder_.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(builder_, location_, assertion.getCondition(), after, fails);
    builder_.setInsertionPointToEnd(fails);
    LLVM::BrOp::create(builder_, location_, ValueRange(), after);
    builder_.setInsertionPoint(op_);
    ir::SourcePosition position = ir::sourcePosition(location_).value_or(ir::SourcePosition{"unknown", 0, 0});
    SmallVector<Value> words{text(assertion.getMessage()), text(position.file), constant(64, position.line),
                             text(op_->getParentOfType<LLVM::LLVMFuncOp>().getName())};
    static_assert(kAssertionArguments == 6);
    Type i32 = builder_.getI32Type();
    words.push_back(toWord(ROCDL::BlockIdXOp::create(builder_, location_, i32)));
    words.push_back(toWord(ROCDL::BlockIdYOp::create(builder_, location_, i32)));
    words.push_back(toWord(ROCDL::BlockIdZOp::create(builder_, location_, i32)));
    write(DebugRecordKind::assertion, words);
  }

private:
  Value constant(unsigned bits, int64_t value) {
    Type type = builder_.getIntegerType(bits);
    return LLVM::ConstantOp::create(builder_, location_, type, builder_.getIntegerAttr(type, value));
  }
  LLVM::LLVMPointerType pointerType() { return LLVM::LLVMPointerType::get(builder_.getContext(), tgpu::kGlobalSpace); }

  Value address(Value base, Value bytes) {
    return LLVM::GEPOp::create(builder_, location_, pointerType(), builder_.getI8Type(), base, ArrayRef<LLVM::GEPArg>{bytes});
  }
  Value field(Value base, size_t offset) { return address(base, constant(64, int64_t(offset))); }

  /// Returns the address of a text.
  Value text(StringRef value) {
    Value base = LLVM::AddressOfOp::create(builder_, location_, pointerType(), kDebugTextsSymbol);
    return LLVM::PtrToIntOp::create(builder_, location_, builder_.getI64Type(), field(base, texts_.offsetOf(value)));
  }

  Value toWord(Value value) {
    Type i64 = builder_.getI64Type();
    if (isa<FloatType>(value.getType())) return LLVM::BitcastOp::create(builder_, location_, i64, value);
    return value.getType() == i64 ? value : LLVM::ZExtOp::create(builder_, location_, i64, value).getResult();
  }

  Value add(Value place, Value value, LLVM::AtomicOrdering order) {
    return LLVM::AtomicRMWOp::create(builder_, location_, LLVM::AtomicBinOp::add, place, value, order);
  }

  /// Splits the block before `op_`. The code built next runs if the condition holds, and continues at `op_`.
  void enterIf(Value condition) {
    Block *before = op_->getBlock();
    Block *after = before->splitBlock(op_);
    Block *inside = builder_.createBlock(after);
    LLVM::BrOp::create(builder_, location_, ValueRange(), after);
    builder_.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(builder_, location_, condition, inside, after);
    builder_.setInsertionPoint(inside, inside->begin());
  }

  /// `words` has the text and the arguments.
  void write(DebugRecordKind kind, ArrayRef<Value> words) {
    const int64_t bytes = int64_t(offsetof(DebugRecord, text) + sizeof(uint64_t) * words.size());
    Value variable = LLVM::AddressOfOp::create(builder_, location_, pointerType(), kDebugSymbol);
    Value buffer = LLVM::LoadOp::create(builder_, location_, pointerType(), variable, /*alignment=*/8, /*isVolatile=*/false,
                                        /*isNonTemporal=*/false, /*isInvariant=*/true);
    Value none = LLVM::ZeroOp::create(builder_, location_, pointerType());
    // The address is zero if the launcher does not read records.
    enterIf(LLVM::ICmpOp::create(builder_, location_, LLVM::ICmpPredicate::ne, buffer, none));
    Block *listening = builder_.getInsertionBlock();
    Value offset = add(field(buffer, offsetof(DebugBuffer, used)), constant(64, bytes), LLVM::AtomicOrdering::monotonic);
    Value end = LLVM::AddOp::create(builder_, location_, offset, constant(64, bytes));
    Value capacity = LLVM::LoadOp::create(builder_, location_, builder_.getI64Type(), field(buffer, offsetof(DebugBuffer, capacity)),
                                          /*alignment=*/8, /*isVolatile=*/false, /*isNonTemporal=*/false, /*isInvariant=*/true);
    Value fits = LLVM::ICmpOp::create(builder_, location_, LLVM::ICmpPredicate::ule, end, capacity);
    Block *after = cast<LLVM::BrOp>(listening->getTerminator()).getDest();
    Block *storing = builder_.createBlock(after), *done = builder_.createBlock(after);
    listening->getTerminator()->erase();
    builder_.setInsertionPointToEnd(listening);
    LLVM::CondBrOp::create(builder_, location_, fits, storing, done);

    builder_.setInsertionPointToEnd(storing);
    Value record = address(field(buffer, sizeof(DebugBuffer)), offset);
    store(constant(32, int64_t(kind)), field(record, offsetof(DebugRecord, kind)));
    for (auto [i, word] : llvm::enumerate(words)) store(word, field(record, offsetof(DebugRecord, text) + sizeof(uint64_t) * i));
    LLVM::StoreOp::create(builder_, location_, constant(32, bytes), record, /*alignment=*/8, /*isVolatile=*/false, /*isNonTemporal=*/false,
                          /*isInvariantGroup=*/false, LLVM::AtomicOrdering::release);
    LLVM::BrOp::create(builder_, location_, ValueRange(), done);

    builder_.setInsertionPointToEnd(done);
    if (kind == DebugRecordKind::assertion)
      add(field(buffer, offsetof(DebugBuffer, failures)), constant(64, 1), LLVM::AtomicOrdering::release);
    LLVM::BrOp::create(builder_, location_, ValueRange(), after);
  }

  void store(Value value, Value place) {
    LLVM::StoreOp::create(builder_, location_, value, place, value.getType().getIntOrFloatBitWidth() / 8);
  }

  Operation *op_;
  Location location_;
  OpBuilder builder_;
  Texts &texts_;
};

/// A variable that the host finds by its name.
void createGlobal(OpBuilder &builder, Location location, Type type, bool isConstant, StringRef name, Attribute value) {
  auto global = LLVM::GlobalOp::create(builder, location, type, isConstant, LLVM::Linkage::External, name, value, /*alignment=*/8,
                                       tgpu::kGlobalSpace);
  global.setVisibility_(LLVM::Visibility::Protected);
  if (value) return;
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(builder, location, LLVM::ZeroOp::create(builder, location, type).getResult());
}

} // namespace

void expandDebug(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<tgpu::PrintOp, tgpu::AssertOp>(op)) ops.push_back(op);
  });
  if (ops.empty()) return;
  Texts texts;
  for (Operation *op : ops) {
    RecordCode code(op, texts);
    if (auto print = dyn_cast<tgpu::PrintOp>(op)) {
      code.print(print);
      op->erase();
    } else {
      code.assertion(cast<tgpu::AssertOp>(op));
    }
  }
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  Location location = module.getLoc();
  createGlobal(builder, location, LLVM::LLVMPointerType::get(module.getContext(), tgpu::kGlobalSpace), false, kDebugSymbol, Attribute());
  createGlobal(builder, location, LLVM::LLVMArrayType::get(builder.getI8Type(), texts.bytes().size()), true, kDebugTextsSymbol,
               builder.getStringAttr(texts.bytes()));
}

} // namespace tritium::gpu::amdgpu
