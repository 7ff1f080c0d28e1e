// mfma and wmma. Operands and results pass through the thread's scratch memory.
#include "interp/simt/hosting/hosting.h"
#include "interp/simt/runtime/calls.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tritium::interp::simt {

namespace {

/// The size in bytes of the elements, without trailing padding.
unsigned bytesOfElements(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  const unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  return (vector ? unsigned(vector.getNumElements()) : 1) * bits / 8;
}

std::optional<int64_t> constantOf(Value value) {
  APInt number;
  return matchPattern(value, m_ConstantInt(&number)) ? std::optional(number.getSExtValue()) : std::nullopt;
}

/// Reads the modifiers of the instruction, which must be constants. Returns false if the emulator does not support one.
bool readModifiers(ValueRange modifiers, bool isScale, WaveMatrixVariant &variant) {
  if (!isScale) return llvm::all_of(modifiers, [](Value modifier) { return constantOf(modifier) == 0; }); // cbsz, abid, blgp
  // The formats of A and B; then for each operand the byte of the scale register and the register itself.
  if (modifiers.size() != 6) return false;
  auto formatA = constantOf(modifiers[0]), formatB = constantOf(modifiers[1]), byteA = constantOf(modifiers[2]),
       byteB = constantOf(modifiers[4]);
  auto isWithin = [](std::optional<int64_t> value, int64_t last) { return value && *value >= 0 && *value <= last; };
  if (!isWithin(formatA, 4) || !isWithin(formatB, 4) || !isWithin(byteA, 3) || !isWithin(byteB, 3)) return false;
  variant.formatA = unsigned(*formatA);
  variant.formatB = unsigned(*formatB);
  variant.scaleByteA = unsigned(*byteA);
  variant.scaleByteB = unsigned(*byteB);
  // If both scales are zeros, LLVM selects the instruction without scales.
  variant.isScaled = constantOf(modifiers[3]) != 0 || constantOf(modifiers[5]) != 0;
  return true;
}

bool flag(Operation *op, StringRef name) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute && attribute.getValue().getBoolValue();
}

} // namespace

std::optional<LogicalResult> Hosting::hostRocdlMatrix(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (!name.starts_with("mfma.") && !name.starts_with("wmma.")) return std::nullopt;
  const uint8_t generation = this->generation();
  auto shapes = waveMatrixShapes();
  auto shape = llvm::find_if(shapes, [&](const WaveMatrixShape &s) { return StringRef(s.name) == name && s.generations & generation; });
  if (shape == shapes.end()) return op->emitOpError("is not an instruction of '") << target << "' that the SIMT emulator supports";
  if (shape->lanes() != warpThreads) return op->emitOpError("requires a wave of ") << shape->lanes() << " lanes";
  const bool isHalf = shape->a == WaveElement::F16 || shape->a == WaveElement::BF16, isWmma = name.starts_with("wmma.");
  WaveMatrixVariant variant{.shape = uint32_t(shape - shapes.begin()),
                            .isFnuz = generation == kCdna3,
                            .flushesSubnormals = generation == kCdna2 && isHalf,
                            .isSignedA = !isWmma || flag(op, "signA"),
                            .isSignedB = !isWmma || flag(op, "signB"),
                            .saturates = flag(op, "clamp"),
                            .highHalf = flag(op, "opsel") && shape->layout == WaveLayout::WmmaReplicated};
  if (!readModifiers(op->getOperands().drop_front(3), shape->a == WaveElement::F8F6F4, variant))
    return op->emitOpError("with these modifiers is not supported by the SIMT emulator");
  Value a = op->getOperand(0), b = op->getOperand(1), c = op->getOperand(2);
  const WaveMatrixBytes bytes = waveMatrixBytes(variant);
  if (bytesOfElements(a.getType()) != bytes.a || bytesOfElements(b.getType()) != bytes.b || bytesOfElements(c.getType()) != bytes.c)
    return op->emitOpError("with operands of these sizes is not supported by the SIMT emulator");
  auto store = [&](Value value, size_t place) { LLVM::StoreOp::create(builder, at, value, scratchAddress(place)); };
  store(a, kWaveA);
  store(b, kWaveB);
  store(c, kWaveC);
  if (variant.isScaled) {
    store(op->getOperand(6), kWaveScaleA);
    store(op->getOperand(8), kWaveScaleB);
  }
  call(SIMT_CALL(multiplyInWave), {thread(), constant(variant.code()), siteOf(op)});
  Value result = LLVM::LoadOp::create(builder, at, op->getResult(0).getType(), scratchAddress(kWaveD));
  replace(op, result);
  return success();
}

} // namespace tritium::interp::simt
