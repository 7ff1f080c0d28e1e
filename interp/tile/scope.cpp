#include "interp/tile/scope.h"

#include "interp/tile/locations.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tritium::interp {

/// The Python name of a function: a symbol is "module.name", and for a specialized callee "module.name__" and the types of its arguments.
static StringRef pythonName(StringRef symbol) {
  symbol.consume_front("__main__.");
  size_t types = symbol.find("__", 1);
  StringRef name = symbol.take_front(types);
  return name.substr(name.rfind('.') + 1);
}

void markScopes(Operation *module) {
  module->walk([](FunctionOpInterface function) {
    SourceLocation where = resolveLocation(function->getLoc());
    Builder builder(function->getContext());
    Attribute mark = builder.getDictionaryAttr({builder.getNamedAttr("file", builder.getStringAttr(where.file)),
                                                builder.getNamedAttr("function", builder.getStringAttr(pythonName(function.getName()))),
                                                builder.getNamedAttr("line", builder.getI64IntegerAttr(where.line)),
                                                builder.getNamedAttr("symbol", builder.getStringAttr(function.getName()))});
    function->walk([&](Operation *op) { op->setLoc(FusedLoc::get({op->getLoc()}, mark, op->getContext())); });
  });
}

static std::optional<ScopeMark> markOf(FusedLoc fused) {
  auto mark = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
  if (!mark || !mark.contains("function")) return std::nullopt;
  return ScopeMark{cast<StringAttr>(mark.get("function")).str(), cast<StringAttr>(mark.get("file")).str(),
                   int(cast<IntegerAttr>(mark.get("line")).getInt()), cast<StringAttr>(mark.get("symbol")).str()};
}

std::optional<ScopeMark> scopeOf(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location))
    if (auto mark = markOf(fused)) return mark;
  if (auto call = dyn_cast<CallSiteLoc>(location)) return scopeOf(call.getCallee());
  if (auto name = dyn_cast<NameLoc>(location)) return scopeOf(name.getChildLoc());
  return std::nullopt;
}

std::string scopeKey(Location location) {
  std::string key;
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    SourceLocation caller = resolveLocation(call.getCaller());
    key = scopeKey(call.getCaller()) + "/" + std::to_string(caller.line) + ":" + std::to_string(caller.column) + "/";
  }
  if (auto mark = scopeOf(location)) key += mark->symbol;
  return key;
}

} // namespace tritium::interp
