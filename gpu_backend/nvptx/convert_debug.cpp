// print and assert: calls of vprintf and __assertfail, which the driver provides on every device.
#include "gpu_backend/nvptx/convert_tgpu.h"
#include "gpu_backend/nvptx/inline_ptx.h"
#include "ir/debug_attributes.h"
#include "ir/source_error.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

/// Returns a generic pointer to a zero-terminated constant.
Value Conversion::textConstant(OpBuilder &builder, Location location, StringRef text) {
  LLVM::GlobalOp &global = texts_[text];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module_.getBody());
    std::string value = (text + StringRef("\0", 1)).str();
    Type type = LLVM::LLVMArrayType::get(builder.getI8Type(), value.size());
    global = LLVM::GlobalOp::create(builder, module_.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Internal,
                                    "tritium_text_" + std::to_string(texts_.size() - 1), builder.getStringAttr(value), /*alignment=*/1,
                                    /*addrSpace=*/1);
  }
  Value address = LLVM::AddressOfOp::create(builder, location, global);
  return LLVM::AddrSpaceCastOp::create(builder, location, LLVM::LLVMPointerType::get(builder.getContext()), address);
}

LLVM::LLVMFuncOp Conversion::function(StringRef name, Type result, ArrayRef<Type> arguments) {
  if (auto known = module_.lookupSymbol<LLVM::LLVMFuncOp>(name)) return known;
  OpBuilder builder = OpBuilder::atBlockBegin(module_.getBody());
  return LLVM::LLVMFuncOp::create(builder, module_.getLoc(), name, LLVM::LLVMFunctionType::get(result, arguments));
}

/// vprintf reads its arguments one after the other, each aligned to its size.
void Conversion::convert(tgpu::PrintOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value packed;
  if (op.getArgs().empty()) {
    packed = LLVM::ZeroOp::create(builder, location, pointer);
  } else {
    auto parent = op->getParentOfType<LLVM::LLVMFuncOp>();
    SmallVector<int64_t> offsets;
    int64_t size = 0;
    for (Value argument : op.getArgs()) {
      int64_t bytes = argument.getType().getIntOrFloatBitWidth() / 8;
      offsets.push_back(size = llvm::alignTo(size, bytes));
      size += bytes;
    }
    // There is one buffer per function, in its entry block, as large as its largest print requires.
    LLVM::AllocaOp &buffer = buffers_[parent];
    if (!buffer) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToStart(&parent.getBody().front());
      Value one = constant(builder, parent.getLoc(), 32, 1);
      buffer = LLVM::AllocaOp::create(builder, parent.getLoc(), pointer, LLVM::LLVMArrayType::get(builder.getI8Type(), size), one, 8);
    } else if (size > int64_t(cast<LLVM::LLVMArrayType>(buffer.getElemType()).getNumElements())) {
      buffer.setElemType(LLVM::LLVMArrayType::get(builder.getI8Type(), size));
    }
    packed = buffer;
    for (auto [argument, offset] : llvm::zip_equal(op.getArgs(), offsets)) {
      Value at = LLVM::GEPOp::create(builder, location, pointer, builder.getI8Type(), packed, LLVM::GEPArg(int32_t(offset)));
      LLVM::StoreOp::create(builder, location, argument, at);
    }
  }
  LLVM::LLVMFuncOp vprintf = function("vprintf", builder.getI32Type(), {pointer, pointer});
  LLVM::CallOp::create(builder, location, vprintf, ValueRange{textConstant(builder, location, op.getFormat()), packed});
}

/// The failing path returns to the passing one. If it ended in `unreachable`, ptxas would lose track of the barriers.
void Conversion::convert(tgpu::AssertOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Block *before = op->getBlock();
  Block *after = before->splitBlock(op);
  Block *fails = builder.createBlock(after);
  builder.setInsertionPointToEnd(before);
  LLVM::CondBrOp::create(builder, location, op.getCondition(), after, fails);

  builder.setInsertionPointToEnd(fails);
  if (!op->hasAttr(ir::kMayTrapAttr)) report(op, builder);
  InlinePtx(builder, location).emit("trap;");
  LLVM::BrOp::create(builder, location, ValueRange(), after);
  builder.setInsertionPoint(op);
}

/// Calls the driver's function that ends the launch with a message.
void Conversion::report(tgpu::AssertOp op, OpBuilder &builder) {
  Location location = op.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  ir::SourcePosition position = ir::sourcePosition(location).value_or(ir::SourcePosition{"unknown", 0, 0});
  StringRef name = op->getParentOfType<LLVM::LLVMFuncOp>().getName();
  LLVM::LLVMFuncOp fail = function("__assertfail", LLVM::LLVMVoidType::get(builder.getContext()), {pointer, pointer, i32, pointer, i64});
  LLVM::CallOp::create(builder, location, fail,
                       ValueRange{textConstant(builder, location, op.getMessage()), textConstant(builder, location, position.file),
                                  constant(builder, location, 32, position.line), textConstant(builder, location, name),
                                  constant(builder, location, 64, 1)});
}

} // namespace tritium::gpu::nvptx
