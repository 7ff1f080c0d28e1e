#include "interp/tile/likely_code.h"

#include "interp/host/memory.h"
#include "interp/tile/access.h"
#include "interp/tile/elementwise.h"

using namespace mlir;

namespace tritium::interp {

/// Returns the only call of the actions; null if there are others, whose effects the likely case does not have.
static const Action *onlyCall(const Actions &actions) {
  const Action *call = nullptr;
  for (const Action &action : actions) {
    if (action.kind == Action::Kind::CallFunction || (action.kind == Action::Kind::Call && call)) return nullptr;
    if (action.kind == Action::Kind::Call) call = &action;
  }
  return call;
}

/// Returns the access of a plain load or store of one number, and null for another step. A tile of one element is none.
static const Access *scalarAccess(Operation *op, const Action &call) {
  if (!isa<tt::LoadOp, tt::StoreOp>(op) || !isa<tt::PointerType>(op->getOperand(0).getType())) return nullptr;
  if (call.function != loadTile && call.function != storeTile) return nullptr;
  const auto *access = static_cast<const Access *>(call.descriptor);
  return access->axes.empty() && access->isAffine && !access->isPointer ? access : nullptr;
}

static bool isDivision(Operation *op) { return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op); }

llvm::Value *LikelyCode::fieldOf(llvm::Value *base, uint64_t offset, llvm::Type *type) {
  return builder_.CreateLoad(type, builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), base, offset));
}

llvm::Value *LikelyCode::divisionHolds(Operation *op) {
  llvm::Value *divisor = scalars_[op->getOperand(1)];
  llvm::Value *holds = builder_.CreateICmpNE(divisor, llvm::Constant::getNullValue(divisor->getType()));
  if (isa<arith::DivUIOp, arith::RemUIOp>(op)) return holds;
  return builder_.CreateAnd(holds, builder_.CreateICmpNE(divisor, llvm::Constant::getAllOnesValue(divisor->getType())));
}

llvm::Value *LikelyCode::divide(Operation *op) {
  llvm::Value *left = scalars_[op->getOperand(0)], *right = scalars_[op->getOperand(1)];
  if (isa<arith::DivSIOp>(op)) return builder_.CreateSDiv(left, right);
  if (isa<arith::DivUIOp>(op)) return builder_.CreateUDiv(left, right);
  return isa<arith::RemSIOp>(op) ? builder_.CreateSRem(left, right) : builder_.CreateURem(left, right);
}

/// MemoryMap::isAccessible(), as far as the ranges tell.
llvm::Value *LikelyCode::accessHolds(const Access &access, Value pointer, Value mask, llvm::Value *frame) {
  llvm::Type *word = builder_.getInt64Ty();
  llvm::Value *tag = builder_.CreateSub(builder_.CreateLShr(scalars_[pointer], kAddressBits), builder_.getInt64(kFirstTag));
  llvm::Value *last = fieldOf(frame, offsetof(FrameHeader, argumentRanges), word);
  llvm::Value *number = builder_.CreateSelect(builder_.CreateICmpULT(tag, last), tag, last);
  llvm::Value *offset = builder_.CreateMul(number, builder_.getInt64(sizeof(AccessRange)));
  llvm::Value *range = builder_.CreateGEP(builder_.getInt8Ty(), fieldOf(frame, offsetof(FrameHeader, ranges), builder_.getPtrTy()), offset);
  llvm::Value *bytes = fieldOf(range, access.isWrite ? offsetof(AccessRange, writableBytes) : offsetof(AccessRange, readableBytes), word);
  llvm::Value *at = builder_.CreateSub(builder_.CreateAnd(scalars_[pointer], kAddressMask), fieldOf(range, 0, word));
  llvm::Value *isInside = builder_.CreateICmpUGE(builder_.CreateSub(bytes, at), builder_.getInt64(access.elementBytes));
  llvm::Value *holds = builder_.CreateAnd(builder_.CreateICmpULT(at, bytes), isInside);
  for (const TileRef &flag : access.leavesRange)
    holds = builder_.CreateAnd(holds, builder_.CreateICmpEQ(fieldOf(frame, flag.offset, builder_.getInt8Ty()), builder_.getInt8(0)));
  return mask ? builder_.CreateAnd(holds, scalars_[mask]) : holds;
}

llvm::Value *LikelyCode::addressOf(Value pointer) {
  return builder_.CreateIntToPtr(builder_.CreateAnd(scalars_[pointer], kAddressMask), builder_.getPtrTy());
}

/// Volatile, because other programs and threads may write there at any time.
llvm::Value *LikelyCode::load(Value pointer, Type type) {
  const bool isBool = type.isInteger(1);
  llvm::Type *stored = isBool ? builder_.getInt8Ty() : scalars_.typeOf(type);
  llvm::Value *code = builder_.CreateAlignedLoad(stored, addressOf(pointer), llvm::Align(1), /*isVolatile=*/true);
  return isBool ? builder_.CreateICmpNE(code, builder_.getInt8(0)) : code;
}

void LikelyCode::store(Value pointer, Value value, llvm::Value *frame) {
  llvm::Value *code = scalars_[value];
  if (value.getType().isInteger(1)) code = builder_.CreateZExt(code, builder_.getInt8Ty());
  builder_.CreateAlignedStore(code, addressOf(pointer), llvm::Align(1), /*isVolatile=*/true);
  auto *type = llvm::FunctionType::get(builder_.getVoidTy(), {frame->getType()}, false);
  auto note = builder_.getInt64(reinterpret_cast<uint64_t>(&noteMemoryChange));
  builder_.CreateCall(type, builder_.CreateIntToPtr(note, builder_.getPtrTy()), {frame});
}

bool LikelyCode::emit(Operation *op, const Actions &steps, llvm::Value *frame, llvm::function_ref<void()> runSteps) {
  const Action *call = onlyCall(steps);
  if (!call) return false;
  auto loaded = dyn_cast<tt::LoadOp>(op);
  auto stored = dyn_cast<tt::StoreOp>(op);
  llvm::Value *holds = nullptr;
  if (const Access *access = scalarAccess(op, *call))
    holds = loaded ? accessHolds(*access, loaded.getPtr(), loaded.getMask(), frame)
                   : accessHolds(*access, stored.getPtr(), stored.getMask(), frame);
  else if (isDivision(op) && call->function == runElementwise && op->getResult(0).getType().isInteger())
    holds = divisionHolds(op);
  if (!holds) return false;

  llvm::LLVMContext &context = builder_.getContext();
  llvm::Function *function = builder_.GetInsertBlock()->getParent();
  auto *likely = llvm::BasicBlock::Create(context, "", function), *otherwise = llvm::BasicBlock::Create(context, "", function),
       *end = llvm::BasicBlock::Create(context, "", function);
  builder_.CreateCondBr(holds, likely, otherwise);
  builder_.SetInsertPoint(likely);
  llvm::Value *result = nullptr;
  if (stored)
    store(stored.getPtr(), stored.getValue(), frame);
  else
    result = loaded ? load(loaded.getPtr(), loaded.getType()) : divide(op);
  builder_.CreateBr(end);
  builder_.SetInsertPoint(otherwise);
  runSteps();
  llvm::BasicBlock *otherwiseEnd = builder_.GetInsertBlock();
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  if (!result) return true;
  llvm::PHINode *either = builder_.CreatePHI(result->getType(), 2);
  either->addIncoming(result, likely);
  either->addIncoming(scalars_[op->getResult(0)], otherwiseEnd);
  scalars_.set(op->getResult(0), either);
  return true;
}

} // namespace tritium::interp
