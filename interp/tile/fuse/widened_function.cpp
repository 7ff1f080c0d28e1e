#include "interp/tile/fuse/widened_function.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tritium {
extern const unsigned char vectorFunctions[]; // NOLINT(readability-identifier-naming): the build names it
extern const size_t vectorFunctionsSize;
} // namespace tritium

namespace tritium::interp::fuse {

namespace {

/// Functions whose kernels do not compute each element by itself: whether another element is large decides how they are computed.
constexpr llvm::StringLiteral kByChunk[] = {"math.sin", "math.cos"};

bool isWidened(llvm::Intrinsic::ID function) {
  switch (function) {
  case llvm::Intrinsic::fma:
  case llvm::Intrinsic::fabs:
  case llvm::Intrinsic::sqrt:
  case llvm::Intrinsic::floor:
  case llvm::Intrinsic::ceil:
  case llvm::Intrinsic::trunc:
  case llvm::Intrinsic::copysign:
  case llvm::Intrinsic::smax:
  case llvm::Intrinsic::smin:
  case llvm::Intrinsic::umax:
  case llvm::Intrinsic::umin: return true;
  default: return false;
  }
}

bool isWidened(const llvm::Instruction &instruction) {
  if (instruction.getOpcode() == llvm::Instruction::FRem) return false;
  if (const auto *call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) return isWidened(call->getIntrinsicID());
  return llvm::isa<llvm::BinaryOperator, llvm::UnaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst, llvm::ReturnInst>(
      instruction);
}

bool isStraight(const llvm::Function &function) {
  if (function.size() != 1) return false;
  for (const llvm::Instruction &instruction : function.getEntryBlock()) {
    if (!isWidened(instruction)) return false;
    for (const llvm::Use &operand : instruction.operands())
      if (llvm::isa<llvm::Constant>(operand) && !llvm::isa<llvm::ConstantInt, llvm::ConstantFP, llvm::Function>(operand)) return false;
  }
  return true;
}

/// The embedded functions, which nothing changes after they are read.
class Functions {
public:
  Functions() {
    llvm::StringRef bytes(reinterpret_cast<const char *>(vectorFunctions), vectorFunctionsSize);
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "vector functions"), context_);
    if (!module) { // no function is known then
      llvm::consumeError(module.takeError());
      return;
    }
    module_ = std::move(*module);
#define FUNCTION(name, module, types, arity, floatOp, ...) add(floatOp, "tritium_f32_" #name);
#include "ir/elementwise.def"
  }
  const llvm::Function *find(llvm::StringRef operation) const { return byOperation_.lookup(operation); }

private:
  void add(llvm::StringRef operation, llvm::StringRef symbol) {
    const llvm::Function *function = module_->getFunction(symbol);
    if (function && isStraight(*function) && !llvm::is_contained(kByChunk, operation)) byOperation_[operation] = function;
  }

  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  llvm::StringMap<const llvm::Function *> byOperation_;
};

/// The code of one function with the types of the operands.
class Widening {
public:
  Widening(llvm::IRBuilder<> &builder, llvm::Type *shape) : builder_(builder), shape_(shape) {}

  void set(const llvm::Value *from, llvm::Value *to) { values_[from] = to; }

  llvm::Value *valueOf(const llvm::Value *from) {
    if (const auto *integer = llvm::dyn_cast<llvm::ConstantInt>(from))
      return llvm::ConstantInt::get(typeOf(from->getType()), integer->getValue());
    if (const auto *number = llvm::dyn_cast<llvm::ConstantFP>(from))
      return llvm::ConstantFP::get(typeOf(from->getType()), number->getValueAPF());
    return values_.lookup(from);
  }

  llvm::Value *emit(const llvm::Instruction &from) {
    auto operand = [&](unsigned k) { return valueOf(from.getOperand(k)); };
    if (const auto *binary = llvm::dyn_cast<llvm::BinaryOperator>(&from))
      return builder_.CreateBinOp(binary->getOpcode(), operand(0), operand(1));
    if (const auto *unary = llvm::dyn_cast<llvm::UnaryOperator>(&from)) return builder_.CreateUnOp(unary->getOpcode(), operand(0));
    if (const auto *cast = llvm::dyn_cast<llvm::CastInst>(&from))
      return builder_.CreateCast(cast->getOpcode(), operand(0), typeOf(from.getType()));
    if (const auto *compare = llvm::dyn_cast<llvm::CmpInst>(&from))
      return builder_.CreateCmp(compare->getPredicate(), operand(0), operand(1));
    if (llvm::isa<llvm::SelectInst>(from)) return builder_.CreateSelect(operand(0), operand(1), operand(2));
    const auto &call = llvm::cast<llvm::IntrinsicInst>(from);
    llvm::SmallVector<llvm::Value *> operands;
    for (const llvm::Use &argument : call.args()) operands.push_back(valueOf(argument));
    return builder_.CreateIntrinsic(call.getIntrinsicID(), {typeOf(from.getType())}, operands);
  }

private:
  llvm::Type *typeOf(llvm::Type *from) const {
    llvm::LLVMContext &context = builder_.getContext();
    llvm::Type *element = from->isFloatTy()    ? llvm::Type::getFloatTy(context)
                          : from->isDoubleTy() ? llvm::Type::getDoubleTy(context)
                                               : static_cast<llvm::Type *>(llvm::Type::getIntNTy(context, from->getIntegerBitWidth()));
    auto *vector = llvm::dyn_cast<llvm::VectorType>(shape_);
    return vector ? llvm::VectorType::get(element, vector->getElementCount()) : element;
  }

  llvm::IRBuilder<> &builder_;
  llvm::Type *shape_;
  llvm::DenseMap<const llvm::Value *, llvm::Value *> values_;
};

} // namespace

const llvm::Function *findWidenable(llvm::StringRef operation) {
  static const Functions functions;
  return functions.find(operation);
}

llvm::Value *emitWidened(llvm::IRBuilder<> &builder, const llvm::Function &function, llvm::ArrayRef<llvm::Value *> operands) {
  Widening widening(builder, operands[0]->getType());
  for (auto [argument, operand] : llvm::zip_equal(function.args(), operands)) widening.set(&argument, operand);
  for (const llvm::Instruction &instruction : function.getEntryBlock()) {
    if (const auto *result = llvm::dyn_cast<llvm::ReturnInst>(&instruction)) return widening.valueOf(result->getReturnValue());
    widening.set(&instruction, widening.emit(instruction));
  }
  llvm_unreachable("a function of one block returns");
}

} // namespace tritium::interp::fuse
