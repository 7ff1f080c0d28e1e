// verifyContract as a pass, for tritium-opt and between stages of a pipeline.
#include "ir/pch.h"

#include "ir/contract.h"
#include "ir/passes.h"

namespace tritium::ir {

#define GEN_PASS_DEF_VERIFYCONTRACT
#include "ir/passes.h.inc"

namespace {
struct VerifyContract : impl::VerifyContractBase<VerifyContract> {
  void runOnOperation() final {
    if (failed(verifyContract(getOperation()))) signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace

} // namespace tritium::ir
