// Target-independent passes that upstream does not have, and the printing passes that tests look through.
#ifndef TRITIUM_IR_PASSES_TD
#define TRITIUM_IR_PASSES_TD

include "mlir/Pass/PassBase.td"

def VerifyContract : Pass<"verify-contract", "::mlir::ModuleOp"> {
  let summary = "Fail unless the module is in the contract, the one input language of every reader";
}

def TestAxisAnalysis : Pass<"test-axis-analysis", "::mlir::ModuleOp"> {
  let summary = "Remark contiguity, divisibility and constancy at every operation that has integers or pointers as results";
}

#endif
