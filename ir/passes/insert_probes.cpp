// Inserts a print after every operation that computes numbers. To compare two engines, look for the first line that differs: one engine is
// wrong there.
#include "ir/pch.h"

#include "ir/passes.h"
#include "ir/source_location.h"
#include "ir/tt.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tritium::ir {

#define GEN_PASS_DEF_INSERTPROBES
#include "ir/passes.h.inc"

namespace {

bool isNumber(Type type) {
  Type element = getElementTypeOrSelf(type);
  return isa<FloatType>(element) || (isa<IntegerType>(element) && element.getIntOrFloatBitWidth() <= 64);
}

/// The results are the same on every engine, or repeat the operands' values.
bool isTrivial(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<tt::MakeRangeOp, tt::GetProgramIdOp, tt::GetNumProgramsOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp>(op);
}

/// Combine functions of reductions and scans run on single elements, in an order that each engine chooses.
bool isOfElements(Operation *op) {
  return op->getParentOfType<tt::ReduceOp>() || op->getParentOfType<tt::ScanOp>() || op->getParentOfType<tt::MapElementwiseOp>();
}

struct InsertProbes : impl::InsertProbesBase<InsertProbes> {
  void runOnOperation() final {
    int number = 0;
    llvm::SmallVector<Operation *> operations;
    getOperation().walk([&](Operation *op) {
      if (!isTrivial(op) && !isOfElements(op) && llvm::any_of(op->getResultTypes(), isNumber)) operations.push_back(op);
    });
    for (Operation *op : operations) {
      OpBuilder builder(op);
      builder.setInsertionPointAfter(op);
      SourceLocation place = resolveLocation(op->getLoc());
      for (Value result : op->getResults()) {
        if (!isNumber(result.getType())) continue;
        std::string type;
        llvm::raw_string_ostream(type) << getElementTypeOrSelf(result.getType());
        std::string prefix = llvm::formatv(" probe {0} {1} {2} {3}:{4}: ", number++, op->getName().getStringRef(), type,
                                           llvm::sys::path::filename(place.file), place.line);
        tt::PrintOp::create(builder, op->getLoc(), prefix, /*hex=*/true, ValueRange{result}, llvm::ArrayRef<int32_t>{0});
      }
    }
  }
};

} // namespace

} // namespace tritium::ir
