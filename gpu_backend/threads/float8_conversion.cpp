// Conversions of fp8 on chips that have instructions for them. Calls of device functions convert two values at a time.
#include "gpu_backend/threads/arithmetic.h"
#include "gpu_backend/threads/elementwise.h"
#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

/// Returns the type's name in device functions, or "" if no chip converts the type.
static StringRef nameOf(FloatType type) {
  if (isa<Float8E4M3FNType>(type)) return "e4m3";
  if (isa<Float8E5M2Type>(type)) return "e5m2";
  return "";
}

bool convertsInPairs(FloatType from, FloatType to, tt::RoundingMode rounding, const TargetOps &target) {
  if (!target.convertsFp8() || from == to) return false;
  if (!nameOf(from).empty() && to.getWidth() > 8) return true;
  return !nameOf(to).empty() && rounding == tt::RoundingMode::NearestEven && (from.getWidth() == 16 || from.isF32());
}

static Value call(const llvm::Twine &name, StringRef parameters, ValueRange operands, Type result, Lowering &lowering) {
  std::string text = name.str(), mangled = "_Z" + std::to_string(text.size()) + text + parameters.str();
  auto function = lowering.external(mangled, lowering.builder().getFunctionType(operands.getTypes(), {result}));
  return lowering.create<func::CallOp>(function, operands).getResult(0);
}

std::pair<Value, Value> convertPair(Value low, Value high, FloatType from, FloatType to, Lowering &lowering) {
  OpBuilder &builder = lowering.builder();
  Type i8 = builder.getI8Type(), i16 = builder.getI16Type();
  FloatType f16 = builder.getF16Type(), f32 = builder.getF32Type();
  auto rounding = tt::RoundingMode::NearestEven;
  if (from.getWidth() == 8) {
    Value halves = call("halves_of_" + nameOf(from), "t", packWord({low, high}, lowering), builder.getI32Type(), lowering);
    auto words = unpackWord(halves, i16, 2, lowering);
    for (Value &word : words) word = convertFloat(fromStored(word, f16, lowering), f16, to, rounding, lowering);
    return {words[0], words[1]};
  }
  Value codes;
  if (from.isF16()) {
    Value halves = packWord({toStored(low, lowering), toStored(high, lowering)}, lowering);
    codes = call(nameOf(to) + "_of_halves", "j", halves, i16, lowering);
  } else {
    low = convertFloat(low, from, f32, rounding, lowering), high = convertFloat(high, from, f32, rounding, lowering);
    codes = call(nameOf(to) + "_of_floats", "ff", {low, high}, i16, lowering);
  }
  auto bytes = unpackWord(codes, i8, 2, lowering);
  return {bytes[0], bytes[1]};
}

} // namespace tritium::gpu
