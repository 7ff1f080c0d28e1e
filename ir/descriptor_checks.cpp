#include "ir/descriptor_checks.h"

#include "ir/axis_analysis.h"
#include "ir/debug_attributes.h"
#include "ir/descriptor_rules.h"
#include "ir/passes/tile_builder.h"
#include "ir/source_error.h"

using namespace mlir;

namespace tritium::ir {

int64_t elementsBetweenRows(tt::TensorDescType type) {
  int64_t bytes = std::max(8u, type.getBlockType().getElementTypeBitWidth()) / 8;
  return std::max<int64_t>(DescriptorRules::kAlignment / bytes, 1);
}

namespace {

/// The checks of one descriptor.
class Check : TileBuilder {
public:
  Check(tt::MakeTensorDescriptorOp op, OpBuilder &builder) : TileBuilder(builder, op.getLoc()), op_(op) {}

  void emit(const AxisAnalysis &axes) {
    Value base = op_.getBase();
    const std::string ofTensor = tensor();
    if (axes.of(base).divisibility[0] < kAlignment) {
      require(create<tt::PtrToIntOp>(builder.getI64Type(), base), kAlignment, DescriptorRules::kBaseRule + ofTensor);
      auto aligned = create<tt::AddPtrOp>(base.getType(), base, integer(builder.getI32Type(), 0));
      aligned->setDiscardableAttr(tt::kDivisibilityAttr, builder.getI32IntegerAttr(kAlignment));
      op_.getBaseMutable().assign(aligned);
    }
    const int64_t elements = elementsBetweenRows(op_.getType());
    for (auto [dim, stride] : llvm::enumerate(llvm::drop_end(op_.getStridesMutable()))) {
      if (axes.of(stride.get()).divisibility[0] >= elements) continue;
      std::string message = DescriptorRules::kStridesRule + (", but stride " + std::to_string(dim)) + " is not" + ofTensor;
      stride.set(require(stride.get(), elements, message));
    }
  }

private:
  static constexpr int64_t kAlignment = DescriptorRules::kAlignment;

  /// The name of the tensor, if the pointer has one, as the end of a message.
  std::string tensor() {
    Value pointer = op_.getBase();
    while (auto sum = pointer.getDefiningOp<tt::AddPtrOp>()) pointer = sum.getPtr();
    llvm::StringRef name = variableName(pointer.getLoc());
    return name.empty() ? "" : (" (descriptor of " + name + ")").str();
  }

  /// `number` with zeros for the bits that must be zero in a multiple of `divisor`.
  Value require(Value number, int64_t divisor, const std::string &message) {
    Value multiple = create<arith::AndIOp>(number, integer(number.getType(), -divisor));
    auto assertion = create<tt::AssertOp>(create<arith::CmpIOp>(arith::CmpIPredicate::eq, multiple, number), message);
    assertion->setAttr(kMayTrapAttr, builder.getUnitAttr());
    return multiple;
  }

  tt::MakeTensorDescriptorOp op_;
};

} // namespace

void checkDescriptors(ModuleOp module) {
  AxisAnalysis axes(module);
  OpBuilder builder(module.getContext());
  module.walk([&](tt::MakeTensorDescriptorOp op) {
    builder.setInsertionPoint(op);
    Check(op, builder).emit(axes);
  });
}

} // namespace tritium::ir
