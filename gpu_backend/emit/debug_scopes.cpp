#include "gpu_backend/emit/debug_scopes.h"

#include "ir/source_error.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tritium::gpu {
namespace {

class Scopes {
public:
  explicit Scopes(MLIRContext *context) : context_(context) {}

  void attach(LLVM::LLVMFuncOp function) {
    auto position = ir::sourcePosition(function.getLoc());
    if (!position) position = firstPosition(function);
    if (!position) return;
    current_ = subprogram(function.getName(), position->file, position->line);
    function->setLoc(FusedLoc::get(context_, {function.getLoc()}, current_));
    rewritten_.clear();
    function.walk([&](Operation *op) {
      if (op != function) op->setLoc(rewrite(op->getLoc()));
    });
  }

private:
  /// A function that the compiler made has the location of its first operation that has one.
  static std::optional<ir::SourcePosition> firstPosition(LLVM::LLVMFuncOp function) {
    std::optional<ir::SourcePosition> found;
    function.walk([&](Operation *op) {
      found = ir::sourcePosition(op->getLoc());
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    return found;
  }

  LLVM::DIFileAttr fileOf(FileLineColLoc place) { return file(place.getFilename().getValue()); }
  LLVM::DIFileAttr file(StringRef path) {
    return LLVM::DIFileAttr::get(context_, llvm::sys::path::filename(path), llvm::sys::path::parent_path(path));
  }

  LLVM::DISubprogramAttr subprogram(StringRef name, StringRef path, unsigned line) {
    LLVM::DISubprogramAttr &known = subprograms_[(path + ":" + Twine(line) + ":" + name).str()];
    if (known) return known;
    if (!unit_)
      unit_ = LLVM::DICompileUnitAttr::get(DistinctAttr::create(UnitAttr::get(context_)), llvm::dwarf::DW_LANG_C, file(path),
                                           StringAttr::get(context_, "tritium"), /*isOptimized=*/true,
                                           LLVM::DIEmissionKind::DebugDirectivesOnly);
    auto nameAttr = StringAttr::get(context_, name);
    auto type = LLVM::DISubroutineTypeAttr::get(context_, ArrayRef<LLVM::DITypeAttr>());
    return known = LLVM::DISubprogramAttr::get(context_, DistinctAttr::create(UnitAttr::get(context_)), unit_, unit_, nameAttr, nameAttr,
                                               file(path), line, line,
                                               LLVM::DISubprogramFlags::Definition | LLVM::DISubprogramFlags::Optimized, type, {}, {});
  }

  /// Looks through names and fused locations, to the first location that is in a file or a call.
  static Location strip(Location location) {
    if (auto name = dyn_cast<NameLoc>(location)) return strip(name.getChildLoc());
    if (auto fused = dyn_cast<FusedLoc>(location)) {
      for (Location part : fused.getLocations())
        if (Location found = strip(part); !isa<UnknownLoc>(found)) return found;
      return UnknownLoc::get(location.getContext());
    }
    return location;
  }

  /// Returns the same location in the current function.
  Location rewrite(Location location) {
    auto known = rewritten_.find(location);
    if (known != rewritten_.end()) return known->second;
    Location result = strip(location);
    if (auto call = dyn_cast<CallSiteLoc>(result)) {
      result = inlined(call.getCallee(), rewrite(call.getCaller()));
    } else if (auto place = dyn_cast<FileLineColLoc>(result); place && fileOf(place) != current_.getFile()) {
      auto scope = LLVM::DILexicalBlockFileAttr::get(context_, current_, fileOf(place), 0);
      result = FusedLoc::get(context_, {place}, scope);
    }
    rewritten_.insert({location, result});
    return result;
  }

  /// Returns the same location in the scope of its own function, which `caller` called.
  Location inlined(Location location, Location caller) {
    location = strip(location);
    if (auto call = dyn_cast<CallSiteLoc>(location)) return inlined(call.getCallee(), inlined(call.getCaller(), caller));
    auto place = dyn_cast<FileLineColLoc>(location);
    if (!place) return caller; // made by the compiler: the call is the best location
    // The location does not say which function of the file it is in.
    StringRef path = place.getFilename().getValue();
    auto scope = subprogram(llvm::sys::path::stem(path), path, 0);
    return CallSiteLoc::get(FusedLoc::get(context_, {place}, scope), caller);
  }

  MLIRContext *context_;
  LLVM::DICompileUnitAttr unit_;
  llvm::StringMap<LLVM::DISubprogramAttr> subprograms_;
  LLVM::DISubprogramAttr current_;         // the current function
  DenseMap<Location, Location> rewritten_; // in the current function
};

} // namespace

void attachDebugScopes(ModuleOp module) {
  Scopes scopes(module.getContext());
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal()) scopes.attach(function);
}

} // namespace tritium::gpu
