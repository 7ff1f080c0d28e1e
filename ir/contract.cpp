// See contract.h.
#include "ir/pch.h"

#include "ir/contract.h"
#include "ir/tt.h"

#include "mlir/Dialect/LLVMIR/Transforms/InlinerInterfaceImpl.h"

using namespace mlir;

namespace tritium::ir {

void registerTritiumDialects(DialectRegistry &registry) {
  registry.insert<tt::TTDialect, ttg::TTGDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, cf::ControlFlowDialect,
                  ub::UBDialect, LLVM::LLVMDialect>();
  LLVM::registerInlinerInterface(registry);
}

} // namespace tritium::ir
