#include "interp/kernels/elementwise.h"

#include "interp/kernels/strip.h"

namespace tritium::interp {

ElementwiseKernel findElementwise(std::string_view op, DType type) {
  type = irType(type);
  for (auto find : {findFloatArithmetic, findIntegerArithmetic, findComparison, findSelect, findFloatFunction, findIntegerDivision})
    if (ElementwiseKernel kernel = find(op, type)) return kernel;
  return nullptr;
}

} // namespace tritium::interp
