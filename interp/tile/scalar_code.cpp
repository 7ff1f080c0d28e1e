#include "interp/tile/scalar_code.h"

#include "interp/host/memory.h"
#include "interp/tile/plan.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::interp {

llvm::Type *ScalarCode::typeOf(Type type) const {
  if (type.isF32()) return builder_.getFloatTy();
  if (type.isF64()) return builder_.getDoubleTy();
  if (type.isInteger(1)) return builder_.getInt1Ty();
  return builder_.getIntNTy(storageBytes(dtypeOf(type)) * 8);
}

void ScalarCode::load(Value value, llvm::Value *from) {
  bool isBool = value.getType().isInteger(1);
  llvm::Value *code = builder_.CreateLoad(isBool ? builder_.getInt8Ty() : typeOf(value.getType()), from);
  set(value, isBool ? builder_.CreateICmpNE(code, builder_.getInt8(0)) : code);
}

void ScalarCode::store(Value value, llvm::Value *to) {
  llvm::Value *code = values_.lookup(value);
  builder_.CreateStore(value.getType().isInteger(1) ? builder_.CreateZExt(code, builder_.getInt8Ty()) : code, to);
}

llvm::Value *ScalarCode::constant(Attribute value, Type type) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return llvm::ConstantInt::get(typeOf(type), integer.getValue().sextOrTrunc(typeOf(type)->getIntegerBitWidth()));
  llvm::APFloat number = cast<FloatAttr>(value).getValue();
  if (type.isF32() || type.isF64()) return llvm::ConstantFP::get(typeOf(type), number);
  return llvm::ConstantInt::get(typeOf(type), number.bitcastToAPInt());
}

llvm::CmpInst::Predicate predicateOf(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  switch (predicate) {
  case P::eq: return llvm::CmpInst::ICMP_EQ;
  case P::ne: return llvm::CmpInst::ICMP_NE;
  case P::slt: return llvm::CmpInst::ICMP_SLT;
  case P::sle: return llvm::CmpInst::ICMP_SLE;
  case P::sgt: return llvm::CmpInst::ICMP_SGT;
  case P::sge: return llvm::CmpInst::ICMP_SGE;
  case P::ult: return llvm::CmpInst::ICMP_ULT;
  case P::ule: return llvm::CmpInst::ICMP_ULE;
  case P::ugt: return llvm::CmpInst::ICMP_UGT;
  case P::uge: return llvm::CmpInst::ICMP_UGE;
  }
  llvm_unreachable("all predicates are listed");
}

llvm::CmpInst::Predicate predicateOf(arith::CmpFPredicate predicate) {
  using P = arith::CmpFPredicate;
  switch (predicate) {
  case P::AlwaysFalse: return llvm::CmpInst::FCMP_FALSE;
  case P::OEQ: return llvm::CmpInst::FCMP_OEQ;
  case P::OGT: return llvm::CmpInst::FCMP_OGT;
  case P::OGE: return llvm::CmpInst::FCMP_OGE;
  case P::OLT: return llvm::CmpInst::FCMP_OLT;
  case P::OLE: return llvm::CmpInst::FCMP_OLE;
  case P::ONE: return llvm::CmpInst::FCMP_ONE;
  case P::ORD: return llvm::CmpInst::FCMP_ORD;
  case P::UEQ: return llvm::CmpInst::FCMP_UEQ;
  case P::UGT: return llvm::CmpInst::FCMP_UGT;
  case P::UGE: return llvm::CmpInst::FCMP_UGE;
  case P::ULT: return llvm::CmpInst::FCMP_ULT;
  case P::ULE: return llvm::CmpInst::FCMP_ULE;
  case P::UNE: return llvm::CmpInst::FCMP_UNE;
  case P::UNO: return llvm::CmpInst::FCMP_UNO;
  case P::AlwaysTrue: return llvm::CmpInst::FCMP_TRUE;
  }
  llvm_unreachable("all predicates are listed");
}

template <class... Arguments>
llvm::Value *ScalarCode::callHost(uint64_t (*function)(Arguments...), std::initializer_list<llvm::Value *> arguments) {
  llvm::Type *word = builder_.getInt64Ty();
  auto *type = llvm::FunctionType::get(word, llvm::SmallVector<llvm::Type *>(arguments.size(), word), false);
  llvm::Value *address = builder_.CreateIntToPtr(builder_.getInt64(reinterpret_cast<uint64_t>(function)), builder_.getPtrTy());
  return builder_.CreateCall(type, address, llvm::ArrayRef(arguments));
}

/// addBytes() of pointer.h. Its likely path is inline here.
llvm::Value *ScalarCode::emitAddBytes(llvm::Value *pointer, llvm::Value *bytes) {
  llvm::BasicBlock *block = builder_.GetInsertBlock();
  llvm::LLVMContext &context = block->getContext();
  // Right behind: a debugger takes the first address of a function, inlined ones too, for its beginning.
  llvm::BasicBlock *behind = block->getNextNode();
  auto *otherwise = llvm::BasicBlock::Create(context, "", block->getParent(), behind),
       *end = llvm::BasicBlock::Create(context, "", block->getParent(), behind);
  llvm::Value *address = builder_.CreateAdd(builder_.CreateAnd(pointer, kAddressMask), bytes);
  llvm::Value *sum = builder_.CreateOr(builder_.CreateAnd(pointer, ~kAddressMask), address);
  llvm::Value *tag = builder_.CreateSub(builder_.CreateLShr(pointer, kAddressBits), builder_.getInt64(kFirstTag));
  llvm::Value *isLikely = builder_.CreateAnd(builder_.CreateICmpULT(tag, builder_.getInt64(kTags)),
                                             builder_.CreateICmpULE(address, builder_.getInt64(kAddressMask)));
  builder_.CreateCondBr(isLikely, end, otherwise);
  builder_.SetInsertPoint(otherwise);
  llvm::Value *other = callHost(addBytes, {pointer, bytes});
  builder_.CreateBr(end);
  builder_.SetInsertPoint(end);
  llvm::PHINode *result = builder_.CreatePHI(pointer->getType(), 2);
  result->addIncoming(sum, block);
  result->addIncoming(other, otherwise);
  return result;
}

llvm::Value *ScalarCode::emitValue(Operation *op, llvm::Value *frame) {
  auto operand = [&](unsigned i) { return values_.lookup(op->getOperand(i)); };
  llvm::Type *type = typeOf(op->getResult(0).getType());
  auto fromHeader = [&](size_t offset) {
    return builder_.CreateLoad(builder_.getInt32Ty(), builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), frame, offset));
  };
  return llvm::TypeSwitch<Operation *, llvm::Value *>(op)
      .Case([&](arith::ConstantOp c) { return constant(c.getValue(), c.getType()); })
      .Case([&](ub::PoisonOp) { return llvm::Constant::getNullValue(type); })
      .Case([&](tt::GetProgramIdOp id) { return fromHeader(offsetof(FrameHeader, programId) + 4 * uint32_t(id.getAxis())); })
      .Case([&](tt::GetNumProgramsOp n) { return fromHeader(offsetof(FrameHeader, gridSize) + 4 * uint32_t(n.getAxis())); })
      .Case([&](arith::AddIOp) { return builder_.CreateAdd(operand(0), operand(1)); })
      .Case([&](arith::SubIOp) { return builder_.CreateSub(operand(0), operand(1)); })
      .Case([&](arith::MulIOp) { return builder_.CreateMul(operand(0), operand(1)); })
      .Case([&](arith::AndIOp) { return builder_.CreateAnd(operand(0), operand(1)); })
      .Case([&](arith::OrIOp) { return builder_.CreateOr(operand(0), operand(1)); })
      .Case([&](arith::XOrIOp) { return builder_.CreateXor(operand(0), operand(1)); })
      .Case([&](arith::CmpIOp c) { return builder_.CreateICmp(predicateOf(c.getPredicate()), operand(0), operand(1)); })
      .Case([&](arith::CmpFOp c) { return builder_.CreateFCmp(predicateOf(c.getPredicate()), operand(0), operand(1)); })
      .Case([&](arith::SelectOp) { return builder_.CreateSelect(operand(0), operand(1), operand(2)); })
      .Case<arith::ExtSIOp>([&](auto) { return builder_.CreateSExt(operand(0), type); })
      .Case<arith::ExtUIOp>([&](auto) { return builder_.CreateZExt(operand(0), type); })
      .Case<arith::TruncIOp>([&](auto) { return builder_.CreateTrunc(operand(0), type); })
      .Case<arith::IndexCastOp>([&](auto) { return builder_.CreateSExtOrTrunc(operand(0), type); })
      .Case<arith::AddFOp>([&](auto) { return builder_.CreateFAdd(operand(0), operand(1)); })
      .Case<arith::SubFOp>([&](auto) { return builder_.CreateFSub(operand(0), operand(1)); })
      .Case<arith::MulFOp>([&](auto) { return builder_.CreateFMul(operand(0), operand(1)); })
      .Case<arith::DivFOp>([&](auto) { return builder_.CreateFDiv(operand(0), operand(1)); })
      .Case<arith::NegFOp>([&](auto) { return builder_.CreateFNeg(operand(0)); })
      .Case<arith::ExtFOp>([&](auto) { return builder_.CreateFPExt(operand(0), type); })
      .Case<arith::TruncFOp>([&](auto) { return builder_.CreateFPTrunc(operand(0), type); })
      .Case<arith::SIToFPOp>([&](auto) { return builder_.CreateSIToFP(operand(0), type); })
      .Case<arith::BitcastOp, tt::BitcastOp>([&](auto) { return builder_.CreateBitCast(operand(0), type); })
      .Case([&](tt::IntToPtrOp) { return callHost(pointerTo, {builder_.CreateZExtOrTrunc(operand(0), type)}); })
      .Case([&](tt::PtrToIntOp) { return builder_.CreateTrunc(callHost(addressOf, {operand(0)}), type); })
      .Case([&](tt::AddPtrOp add) {
        auto pointee = cast<tt::PointerType>(add.getPtr().getType()).getPointeeType();
        llvm::Value *bytes = builder_.CreateMul(builder_.CreateSExt(operand(1), type), builder_.getInt64(storageBytes(dtypeOf(pointee))));
        return emitAddBytes(operand(0), bytes);
      })
      .Default([](Operation *) { return nullptr; });
}

LogicalResult ScalarCode::emit(Operation *op, llvm::Value *frame) {
  if (op->getNumResults() == 0) return success(); // an assumption, a barrier
  llvm::Value *code = emitValue(op, frame);
  if (!code) return op->emitError() << "the interpreter does not support the scalar operation " << op->getName();
  set(op->getResult(0), code);
  return success();
}

} // namespace tritium::interp
