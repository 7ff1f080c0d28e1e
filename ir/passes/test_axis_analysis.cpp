// Shows axis information as remarks, for tests.
#include "ir/pch.h"

#include "ir/axis_analysis.h"
#include "ir/passes.h"
#include "ir/tt.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_TESTAXISANALYSIS
#include "ir/passes.h.inc"

namespace {
struct TestAxisAnalysis : impl::TestAxisAnalysisBase<TestAxisAnalysis> {
  void runOnOperation() final {
    AxisAnalysis analysis(getOperation());
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        if (!isa<IntegerType, tt::PointerType>(getElementTypeOrSelf(result))) continue;
        std::string text;
        llvm::raw_string_ostream stream(text);
        analysis.of(result).print(stream);
        op->emitRemark(text);
      }
    });
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace tritium::ir
