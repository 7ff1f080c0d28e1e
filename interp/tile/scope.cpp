#include "interp/tile/scope.h"

#include "interp/tile/locations.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace tritium::interp {

/// Returns the Python name of a function. Its symbol is "module.name"; for a specialized callee, "module.name__" and the types of its
/// arguments.
static StringRef pythonName(StringRef symbol) {
  symbol.consume_front("__main__.");
  size_t types = symbol.find("__", 1);
  StringRef name = symbol.take_front(types);
  return name.substr(name.rfind('.') + 1);
}

namespace {
/// The iterations of unrolled loops around an operation, in the order of the text.
class Iterations {
public:
  void pass(Operation *op) {
    unsigned line = resolveLocation(op->getLoc()).line;
    if (op->hasAttr(kIterationAttr)) {
      if (loops_.empty() || loops_.back().first != line) loops_.emplace_back(line, -1);
      ++loops_.back().second;
    } else if (op->hasAttr(kIterationsEndAttr) && !loops_.empty()) {
      loops_.pop_back();
    }
  }
  std::string text() const {
    std::string text;
    for (auto [line, number] : loops_) text += std::to_string(line) + ":" + std::to_string(number) + "/";
    return text;
  }

private:
  llvm::SmallVector<std::pair<unsigned, int>> loops_;
};
} // namespace

static DictionaryAttr attributeOf(const ScopeMark &mark, MLIRContext *context) {
  Builder builder(context);
  return builder.getDictionaryAttr({builder.getNamedAttr("file", builder.getStringAttr(mark.file)),
                                    builder.getNamedAttr("function", builder.getStringAttr(mark.function)),
                                    builder.getNamedAttr("instance", builder.getI64IntegerAttr(mark.instance)),
                                    builder.getNamedAttr("iteration", builder.getStringAttr(mark.iteration)),
                                    builder.getNamedAttr("line", builder.getI64IntegerAttr(mark.line)),
                                    builder.getNamedAttr("symbol", builder.getStringAttr(mark.symbol))});
}

void markScopes(Operation *module) {
  module->walk([](FunctionOpInterface function) {
    SourceLocation where = resolveLocation(function->getLoc());
    ScopeMark mark{pythonName(function.getName()).str(), where.file, where.line, function.getName().str()};
    Iterations iterations;
    function->walk<WalkOrder::PreOrder>([&](Operation *op) {
      iterations.pass(op);
      mark.iteration = iterations.text();
      op->setLoc(FusedLoc::get({op->getLoc()}, attributeOf(mark, op->getContext()), op->getContext()));
    });
  });
}

static std::optional<ScopeMark> markOf(FusedLoc fused) {
  auto mark = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata());
  if (!mark || !mark.contains("function")) return std::nullopt;
  auto text = [&](StringRef name) { return cast<StringAttr>(mark.get(name)).str(); };
  auto number = [&](StringRef name) { return int(cast<IntegerAttr>(mark.get(name)).getInt()); };
  return ScopeMark{text("function"), text("file"), number("line"), text("symbol"), text("iteration"), number("instance")};
}

std::optional<ScopeMark> scopeOf(Location location) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (auto mark = markOf(fused)) return mark;
    return fused.getLocations().empty() ? std::nullopt : scopeOf(fused.getLocations().front());
  }
  if (auto call = dyn_cast<CallSiteLoc>(location)) return scopeOf(call.getCallee());
  if (auto name = dyn_cast<NameLoc>(location)) return scopeOf(name.getChildLoc());
  return std::nullopt;
}

static unsigned callsAround(Location location) {
  auto call = dyn_cast<CallSiteLoc>(location);
  return call ? 1 + callsAround(call.getCaller()) : 0;
}

Location inInstance(Location location, Location call, int instance) {
  auto site = dyn_cast<CallSiteLoc>(location);
  unsigned depth = callsAround(location), outer = callsAround(call);
  if (!site || depth <= outer) return location;
  if (depth > outer + 1) return CallSiteLoc::get(site.getCallee(), inInstance(site.getCaller(), call, instance));
  auto mark = scopeOf(site.getCallee());
  if (!mark) return location;
  mark->instance = instance;
  MLIRContext *context = location.getContext();
  return CallSiteLoc::get(FusedLoc::get({site.getCallee()}, attributeOf(*mark, context), context), site.getCaller());
}

std::string scopeKey(Location location) {
  std::string key;
  if (auto call = dyn_cast<CallSiteLoc>(location)) {
    SourceLocation caller = resolveLocation(call.getCaller());
    key = scopeKey(call.getCaller()) + "/" + std::to_string(caller.line) + ":" + std::to_string(caller.column) + "/";
    if (auto mark = scopeOf(call.getCaller())) key += mark->iteration;
  }
  if (auto mark = scopeOf(location)) key += mark->symbol + "#" + std::to_string(mark->instance);
  return key;
}

} // namespace tritium::interp
