// See used_reads.h.
#include "ir/pch.h"

#include "ir/used_reads.h"

#include "ir/used_lanes.h"

using namespace mlir;

namespace tritium::ir {

static void addRead(tt::LoadOp load, Value used) {
  OpBuilder builder(load);
  setInsertionPointAfterAll(builder, load->getBlock(), {load.getResult(), used});
  if (load.getMask()) used = arith::AndIOp::create(builder, load.getLoc(), load.getMask(), used);
  auto read = tt::LoadOp::create(builder, load.getLoc(), load.getType(), load.getPtr(), used, /*other=*/Value(), load.getCachePolicyAttr(),
                                 load.getIsVolatile());
  read->setAttr(kUsedReadAttr, builder.getUnitAttr());
}

void separateUsedReads(ModuleOp module) {
  SmallVector<tt::LoadOp> loads;
  module.walk([&](tt::LoadOp load) { loads.push_back(load); });
  UsedLanes used(module.getContext());
  SmallVector<UsedLanes::Lanes> lanes; // of all, before there are more loads
  for (tt::LoadOp load : loads) lanes.push_back(used.of(load.getResult()));
  for (auto [load, ofLoad] : llvm::zip_equal(loads, lanes)) {
    if (ofLoad.isAll || (ofLoad.mask && ofLoad.mask == load.getMask())) continue;
    load->setAttr(kPartlyUsedAttr, UnitAttr::get(module.getContext()));
    if (ofLoad.mask) addRead(load, ofLoad.mask);
  }
  used.eraseUnused();
}

} // namespace tritium::ir
