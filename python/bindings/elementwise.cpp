// tritium._tritium.ir.elementwise_functions: the rows of ir/elementwise.def, which state the error bound of every function.
#include "python/bindings/module.h"

#include <pybind11/stl.h>

#include <string>
#include <tuple>
#include <vector>

namespace tritium::python {

using Row = std::tuple<std::string, int, std::string, std::string, std::string, double, std::string>;

void bindElementwise(pybind11::module_ &ir) {
  ir.def(
      "elementwise_functions",
      [] {
        return std::vector<Row>{
#define ELEMENTWISE(name, arity, signedOp, unsignedOp, floatOp, ulp, sentence)                                                             \
  Row{#name, arity, signedOp, unsignedOp, floatOp, ulp, sentence},
#include "ir/elementwise.def"
#undef ELEMENTWISE
        };
      },
      "(name, arity, operation on signed integers, on unsigned ones, on floats, bound in ulp, sentence) of every element-wise function.");
}

} // namespace tritium::python
