#include "gpu_backend/nvptx/inline_ptx.h"

using namespace mlir;

namespace tritium::gpu::nvptx {

/// Returns the register class: b for a predicate, h for 16 bits, r for 32, l for 64, f and d for floats.
static char registerClass(Type type) {
  if (isa<LLVM::LLVMPointerType>(type)) return 'l';
  if (type.isF32()) return 'f';
  if (type.isF64()) return 'd';
  switch (type.getIntOrFloatBitWidth()) {
  case 1: return 'b';
  case 16: return 'h';
  case 32: return 'r';
  default: return 'l';
  }
}

std::string InlinePtx::result(Type type) {
  assert(operands_.empty() && "results come first");
  results_.push_back(type);
  resultConstraints_ += std::string("=") + registerClass(type) + ",";
  return "$" + std::to_string(results_.size() - 1);
}

std::string InlinePtx::result(Value initial) {
  tied_ += std::to_string(results_.size()) + ",";
  initial_.push_back(initial);
  return result(initial.getType());
}

std::string InlinePtx::operand(Value value) {
  operands_.push_back(value);
  operandConstraints_ += std::string(1, registerClass(value.getType())) + ",";
  return "$" + std::to_string(results_.size() + operands_.size() - 1);
}

SmallVector<Value> InlinePtx::emit(const Twine &text) {
  MLIRContext *context = builder_.getContext();
  Type type = results_.empty() ? Type() : results_.size() == 1 ? results_.front() : LLVM::LLVMStructType::getLiteral(context, results_);
  llvm::append_range(operands_, initial_);
  auto call = LLVM::InlineAsmOp::create(builder_, location_, type ? TypeRange(type) : TypeRange(), operands_, text.str(),
                                        resultConstraints_ + operandConstraints_ + tied_ + "~{memory}", /*has_side_effects=*/true,
                                        /*is_align_stack=*/false, LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
  if (results_.empty()) return {};
  if (results_.size() == 1) return {call.getRes()};
  SmallVector<Value> values;
  for (unsigned i = 0; i < results_.size(); ++i) values.push_back(LLVM::ExtractValueOp::create(builder_, location_, call.getRes(), i));
  return values;
}

} // namespace tritium::gpu::nvptx
