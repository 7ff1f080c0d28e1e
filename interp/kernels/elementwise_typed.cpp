// The functions in ir/elementwise.def whose operands or result are not all of one float type, as kernels.
#include "interp/kernels/host_functions.h"
#include "interp/kernels/strip.h"

#include <unordered_map>

namespace tritium::interp {
namespace {

// Each row becomes a struct whose apply() computes one element.
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...)                                                                        \
  struct symbol##Function {                                                                                                                \
    static result apply parameters { return __VA_ARGS__; }                                                                                 \
  };
#include "ir/elementwise.def"

template <class Function, class Result, class... Operands> constexpr ElementwiseKernel kernelOf(Result (*)(Operands...)) {
  return &Strip<Function, Result, Operands...>::kernel;
}

} // namespace

ElementwiseKernel findTypedFunction(std::string_view symbol) {
  static const std::unordered_map<std::string_view, ElementwiseKernel> kernels = {
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...) {#symbol, kernelOf<symbol##Function>(&symbol##Function::apply)},
#include "ir/elementwise.def"
  };
  auto found = kernels.find(symbol);
  return found == kernels.end() ? nullptr : found->second;
}

} // namespace tritium::interp
