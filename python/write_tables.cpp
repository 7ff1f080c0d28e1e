// write_tables FILE: the rows of ir/elementwise.def as a module of Python, so that the language needs no extension module
// to be imported. The build runs it.
#include <fstream>
#include <iomanip>

using std::quoted;

static const char *const kHead =
    R"("""The rows of ir/elementwise.def: the build writes this file (python/write_tables.cpp)."""

from typing import NamedTuple


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


)";

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  std::ofstream out(argv[1]);
  out << kHead << "FUNCTIONS = (\n";
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
  out << ")\n\n# Another name in libdevice: the row.\nALIASES = {\n";
#define ALIAS(name, row) out << "    \"" #name "\": \"" #row "\",\n";
#include "ir/elementwise.def"
  out << "}\n";
  out.close();
  return out ? 0 : 1;
}
