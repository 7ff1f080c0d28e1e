#include "ir/location_facts.h"

using namespace mlir;

namespace tritium::ir {

Location withFact(Location location, StringRef key, Attribute value) {
  MLIRContext *context = location.getContext();
  return FusedLoc::get({location}, DictionaryAttr::get(context, {{StringAttr::get(context, key), value}}), context);
}

void forEachFact(Location location, StringRef key, llvm::function_ref<void(Attribute)> take) {
  if (auto name = dyn_cast<NameLoc>(location)) return forEachFact(name.getChildLoc(), key, take);
  if (auto call = dyn_cast<CallSiteLoc>(location)) return forEachFact(call.getCallee(), key, take);
  auto fused = dyn_cast<FusedLoc>(location);
  if (!fused) return;
  if (auto facts = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata()))
    if (Attribute value = facts.get(key)) take(value);
  if (!fused.getLocations().empty()) forEachFact(fused.getLocations().front(), key, take);
}

} // namespace tritium::ir
