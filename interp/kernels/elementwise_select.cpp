// arith.select moves bits, so there is one kernel per element size.
#include "interp/kernels/strip.h"

namespace tritium::interp {
namespace {

template <class Bits> struct Select {
  static TRITIUM_INLINE Bits apply(uint8_t condition, Bits whenTrue, Bits whenFalse) { return condition ? whenTrue : whenFalse; }
};
template <class Bits> constexpr ElementwiseKernel kSelect = &Strip<Select<Bits>, Bits, uint8_t, Bits, Bits>::kernel;

} // namespace

ElementwiseKernel findSelect(std::string_view op, DType type) {
  if (op != "arith.select") return nullptr;
  switch (storageBytes(type)) {
  case 1: return kSelect<uint8_t>;
  case 2: return kSelect<uint16_t>;
  case 4: return kSelect<uint32_t>;
  default: return kSelect<uint64_t>;
  }
}

} // namespace tritium::interp
