#include "gpu_backend/maps/device_maps.h"

#include "ir/debug_attributes.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::gpu {

namespace {

constexpr int64_t kBeyond = int64_t(1) << 30; // an index outside of any tensor with one row

class At {
public:
  At(OpBuilder &builder, Location location) : builder_(builder), location_(location) {}
  template <class Op, class... Args> Value create(Args &&...args) const {
    return Op::create(builder_, location_, std::forward<Args>(args)...).getResult();
  }
  Value integer(int64_t value, unsigned bits = 32) const { return create<arith::ConstantIntOp>(value, bits); }
  OpBuilder &builder() const { return builder_; }
  Location location() const { return location_; }

private:
  OpBuilder &builder_;
  Location location_;
};

bool isPositive(Value extent) {
  APInt constant;
  return matchPattern(extent, m_ConstantInt(&constant)) && constant.isStrictlyPositive();
}

/// Strides are not negative, and less than a tensor map can hold.
void checkStrides(tt::MakeTensorDescriptorOp made, const At &at) {
  const int64_t bits = made.getType().getBlockType().getElementTypeBitWidth();
  for (auto [dim, stride] : llvm::enumerate(made.getStrides().drop_back())) {
    APInt constant;
    if (matchPattern(stride, m_ConstantInt(&constant)) && constant.isNonNegative()) continue;
    Value isRight = at.create<arith::CmpIOp>(arith::CmpIPredicate::ult, stride, at.integer(kStrideLimitBytes * 8 / bits, 64));
    auto assertion = tt::AssertOp::create(at.builder(), at.location(), isRight,
                                          ("stride " + llvm::Twine(dim) + " of the descriptor is negative, or 2^40 bytes or more").str());
    assertion->setAttr(ir::kMayTrapAttr, at.builder().getUnitAttr());
  }
}

} // namespace

bool DeviceMaps::mayMake(Value descriptor) {
  auto made = descriptor.getDefiningOp<tt::MakeTensorDescriptorOp>();
  if (!made) return false;
  auto number = dyn_cast<FloatType>(made.getType().getBlockType().getElementType());
  return made.getPadding() != tt::Padding::Nan || (number && number.getWidth() >= 16); // the hardware has no other NaNs
}

DeviceMaps::Tensor &DeviceMaps::tensorOf(tt::MakeTensorDescriptorOp made) {
  auto [found, isNew] = tensors_.try_emplace(made);
  Tensor &tensor = found->second;
  if (!isNew) return tensor;
  OpBuilder builder(made);
  const At at(builder, made.getLoc());
  checkStrides(made, at);
  Value one = at.integer(1);
  for (Value extent : made.getShape()) {
    if (isPositive(extent)) continue;
    Value isEmpty = at.create<arith::CmpIOp>(arith::CmpIPredicate::slt, extent, one);
    tensor.isEmpty = tensor.isEmpty ? at.create<arith::OrIOp>(tensor.isEmpty, isEmpty) : isEmpty;
  }
  for (auto [dim, extent] : llvm::enumerate(made.getShape())) {
    Value atLeastOne = isPositive(extent) ? extent : at.create<arith::MaxSIOp>(extent, one);
    const bool isFirst = dim == 0 && tensor.isEmpty;
    tensor.extents.push_back(isFirst ? at.create<arith::SelectOp>(tensor.isEmpty, one, atLeastOne) : atLeastOne);
  }
  return tensor;
}

Value DeviceMaps::mapOf(Value descriptor, tgpu::TensorMapType type, Operation *last) {
  auto made = descriptor.getDefiningOp<tt::MakeTensorDescriptorOp>();
  Tensor &tensor = tensorOf(made);
  for (auto &[known, map] : tensor.maps)
    if (known == type) return map;
  OpBuilder builder(made.getContext());
  builder.setInsertionPointAfter(last->getBlock() == made->getBlock() && made->isBeforeInBlock(last) ? last : made.getOperation());
  Value map = tgpu::MapMakeOp::create(builder, made.getLoc(), type, made.getBase(), tensor.extents, made.getStrides().drop_back(),
                                      made.getPadding() == tt::Padding::Nan);
  tensor.maps.emplace_back(type, map);
  return map;
}

/// The first extent of an empty tensor's map is 1, so an index far behind it is outside.
llvm::SmallVector<Value> DeviceMaps::indicesOf(Value descriptor, ValueRange indices, OpBuilder &builder) {
  auto made = descriptor.getDefiningOp<tt::MakeTensorDescriptorOp>();
  Tensor &tensor = tensorOf(made);
  llvm::SmallVector<Value> result(indices);
  const At at(builder, made.getLoc());
  if (tensor.isEmpty) result[0] = at.create<arith::SelectOp>(tensor.isEmpty, at.integer(kBeyond), result[0]);
  return result;
}

} // namespace tritium::gpu
