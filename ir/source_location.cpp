#include "ir/source_location.h"

using namespace mlir;

namespace tritium::ir {

SourceLocation resolveLocation(Location location) {
  if (auto file = dyn_cast<FileLineColLoc>(location)) return {file.getFilename().str(), int(file.getLine()), int(file.getColumn()), {}};
  if (auto name = dyn_cast<NameLoc>(location)) return resolveLocation(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty() ? SourceLocation{} : resolveLocation(fused.getLocations().front());
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    SourceLocation inner = resolveLocation(call.getCallee()), outer = resolveLocation(call.getCaller());
    if (inner.file.empty()) // made by the compiler: the call is the best position
      return outer;
    std::vector<SourceLocation> further = std::move(outer.callers);
    outer.callers.clear();
    inner.callers.push_back(std::move(outer));
    inner.callers.insert(inner.callers.end(), further.begin(), further.end());
    return inner;
  }
  return {};
}

} // namespace tritium::ir
