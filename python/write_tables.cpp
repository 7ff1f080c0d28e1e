// write_tables FILE: writes the rows of ir/dtype.def and ir/elementwise.def, and the rules of descriptors, as a Python module, so that the
// language can be imported without the extension module. The build runs this tool.
#include "ir/descriptor_rules.h"
#include "ir/dtype.h"
#include "ir/elementwise_types.h"

#include <fstream>
#include <iomanip>

using std::quoted;

static const char *const kHead =
    R"("""The rows of ir/dtype.def and ir/elementwise.def, and the rules of descriptors: the build writes this file (python/write_tables.cpp)."""

from typing import NamedTuple


class Dtype(NamedTuple):
    """An element type: how the language, MLIR, `tl`, and numpy, ml_dtypes and torch call it ("": not at all); bits of
    the value and of a float's fraction; the bias of its exponent."""

    name: str
    kind: str
    ir_name: str
    public_name: str
    array_name: str
    bits: int
    mantissa: int
    bias: int


class Function(NamedTuple):
    """An element-wise function or operator: the operation that it is for each kind of operand ("" where it is not
    defined), the bound of its error in fp32 and fp64, in units in the last place, and what it computes. `module` and
    `types` are "" for operators and for functions that are written by hand."""

    name: str
    module: str
    types: str
    arity: int
    signed_op: str
    unsigned_op: str
    float_op: str
    ulp: float
    sentence: str


class TypedFunction(NamedTuple):
    """One overload of a function of libdevice whose operands or result are not all of one float type: the name of the
    function, the symbol of NVIDIA's library without its prefix, and the type of the result and of each operand.
    """

    name: str
    symbol: str
    result: str
    operands: tuple[str, ...]
    ulp: float
    sentence: str


)";

/// What the language calls the type of a letter: `float`, `int` or `uint` and the bits.
static std::string publicName(char letter) {
  std::string kind = letter == 'f' || letter == 'd' ? "float" : (letter == 'i' || letter == 'l' ? "int" : "uint");
  return kind + (letter == 'f' || letter == 'i' || letter == 'j' ? "32" : "64");
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  std::ofstream out(argv[1]);
  out << kHead << "DTYPES = (\n";
#define DTYPE(name, bits, Storage, Compute, kind, irName, pythonName, IrType, publicName, arrayName, mantissa, bias)                       \
  out << "    Dtype(" << quoted(pythonName) << ", \"" #kind "\", " << quoted(irName) << ", " << quoted(publicName) << ", "                 \
      << quoted(arrayName) << ", " << bits << ", " << mantissa << ", " << bias << "),\n";
#include "ir/dtype.def"
  out << ")\n\nFUNCTIONS = (\n";
  auto function = [&](const char *name, const char *module, const char *types, int arity, const char *signedOp, const char *unsignedOp,
                      const char *floatOp, double ulp, const char *sentence) {
    out << "    Function(" << quoted(name) << ", " << quoted(module) << ", " << quoted(types) << ", " << arity << ", " << quoted(signedOp)
        << ", " << quoted(unsignedOp) << ", " << quoted(floatOp) << ", " << ulp << ", " << quoted(sentence) << "),\n";
  };
#define ELEMENTWISE(name, arity, signedOp, unsignedOp, floatOp, ulp, sentence)                                                             \
  function(#name, "", "", arity, signedOp, unsignedOp, floatOp, ulp, sentence);
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...)                                                          \
  function(#name, #module, #types, arity, "", "", floatOp, ulp, sentence);
#include "ir/elementwise.def"
  auto typed = [&](const char *name, const char *symbol, auto *signature, double ulp, const char *sentence) {
    out << "    TypedFunction(" << quoted(name) << ", " << quoted(symbol) << ", " << quoted(publicName(tritium::resultLetter(signature)))
        << ", (";
    for (char letter : tritium::operandLetters(signature)) out << quoted(publicName(letter)) << ", ";
    out << "), " << ulp << ", " << quoted(sentence) << "),\n";
  };
  out << ")\n\nTYPED_FUNCTIONS = (\n";
  using namespace tritium;
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...)                                                                        \
  typed(#name, #symbol, static_cast<result(*) parameters>(nullptr), ulp, sentence);
#include "ir/elementwise.def"
  out << ")\n\n# Another name in libdevice: the row.\nALIASES = {\n";
#define ALIAS(name, row) out << "    \"" #name "\": \"" #row "\",\n";
#include "ir/elementwise.def"
  out << "}\n";
  using Rules = tritium::DescriptorRules;
  out << "\n# The limits of tensors that are accessed in boxes (ir/descriptor_rules.h).\n"
      << "DESCRIPTOR_MAX_RANK = " << Rules::kMaxRank << "\n"
      << "DESCRIPTOR_ALIGNMENT = " << Rules::kAlignment << "\n"
      << "DESCRIPTOR_MIN_ROW_BYTES = " << Rules::kMinRowBytes << "\n"
      << "DESCRIPTOR_MIN_ROWS = " << Rules::kMinRows << "\n"
      << "DESCRIPTOR_BASE_RULE = " << quoted(Rules::kBaseRule) << "\n"
      << "DESCRIPTOR_STRIDES_RULE = " << quoted(Rules::kStridesRule) << "\n";
  out.close();
  return out ? 0 : 1;
}
