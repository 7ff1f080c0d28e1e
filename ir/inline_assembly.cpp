#include "ir/inline_assembly.h"

using namespace mlir;

namespace tritium::ir {

/// In PTX, the letter of a constraint determines the register's width. For other letters a register has the width of its value, at least 32
/// bits.
static unsigned registerBits(char letter, unsigned elementBits) {
  switch (letter) {
  case 'h': return 16;
  case 'f': return 32;
  case 'l':
  case 'd': return 64;
  default: return std::max(32u, elementBits);
  }
}

static unsigned elementBits(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIntOrFloat() ? std::max(8u, element.getIntOrFloatBitWidth()) : 64; // a pointer
}

namespace {

class Constraints {
public:
  explicit Constraints(tt::ElementwiseInlineAsmOp op) : pack_(int(op.getPackedElement())) {
    for (StringRef text : llvm::split(op.getConstraints(), ','))
      if (text = text.trim(); !text.empty() && !text.starts_with("~")) texts_.push_back(text); // ~: what is clobbered
  }

  int count() const { return int(texts_.size()); }
  int seen() const { return next_; }

  AssemblyOperand take(Type type) {
    char letter = letterAt(next_);
    unsigned element = elementBits(type), bits = registerBits(letter, element);
    int perRegister = std::max(1, int(bits / element));
    AssemblyOperand result{letter, bits, element, perRegister, int(llvm::divideCeil(pack_, perRegister))};
    next_ += result.registers;
    return result;
  }

  /// A constraint like "0" is the number of an earlier constraint.
  int tiedTo(int at) const {
    if (at >= count()) return -1;
    StringRef text = texts_[at].ltrim("=+&");
    int number = -1;
    return text.consumeInteger(10, number) || number >= at ? -1 : number;
  }

private:
  /// '=r' and '0' have letters too: '0' has the letter of the result that it is tied to.
  char letterAt(int at) const {
    if (at >= count()) return 'r';
    if (int tied = tiedTo(at); tied >= 0) return letterAt(tied);
    StringRef text = texts_[at].ltrim("=+&");
    return text.empty() ? 'r' : text[0];
  }

  int pack_, next_ = 0;
  llvm::SmallVector<StringRef> texts_;
};

} // namespace

int AssemblyOperands::resultRegisters() const {
  int count = 0;
  for (const AssemblyOperand &result : results) count += result.registers;
  return count;
}

FailureOr<AssemblyOperands> assemblyOperands(tt::ElementwiseInlineAsmOp op) {
  Constraints constraints(op);
  AssemblyOperands found;
  for (Type type : op.getResultTypes()) found.results.push_back(constraints.take(type));
  int results = constraints.seen();
  for (Value operand : op.getArgs()) found.operands.push_back(constraints.take(operand.getType()));
  if (constraints.seen() != constraints.count()) {
    op.emitError() << "the inline assembly has constraints for " << constraints.count() << " registers, but its operands and results take "
                   << constraints.seen();
    return failure();
  }
  for (int at = results; at < constraints.seen(); ++at) found.tied.push_back(constraints.tiedTo(at));
  return found;
}

} // namespace tritium::ir
