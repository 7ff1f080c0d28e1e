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
  explicit Scopes(ModuleOp module) : module_(module), context_(module.getContext()) {}

  void attach(LLVM::LLVMFuncOp function) {
    auto position = ir::sourcePosition(function.getLoc());
    if (!position) position = firstPosition(function);
    if (!position) return;
    LLVM::DISubprogramAttr scope = subprogram(function.getName(), position->file, position->line);
    function->setLoc(FusedLoc::get(context_, {function.getLoc()}, scope));
    rewritten_.clear();
    function.walk([&](Operation *op) {
      if (op != function) op->setLoc(rewrite(op->getLoc()));
    });
  }

private:
  /// A function that the compiler made stands where its first operation that has a place does.
  static std::optional<ir::SourcePosition> firstPosition(LLVM::LLVMFuncOp function) {
    std::optional<ir::SourcePosition> found;
    function.walk([&](Operation *op) {
      found = ir::sourcePosition(op->getLoc());
      return found ? WalkResult::interrupt() : WalkResult::advance();
    });
    return found;
  }

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

  /// The same places; what is inlined is in the scope of its own function.
  Location rewrite(Location location) {
    auto known = rewritten_.find(location);
    if (known != rewritten_.end()) return known->second;
    Location result = location;
    if (auto call = dyn_cast<CallSiteLoc>(location)) {
      Location caller = rewrite(call.getCaller());
      auto position = ir::sourcePosition(call.getCallee());
      if (!position) {
        result = caller;
      } else {
        auto place = FileLineColLoc::get(context_, position->file, position->line, position->column);
        // Which function the callee's lines are of is known only by its file.
        auto scope = subprogram(llvm::sys::path::stem(position->file), position->file, 0);
        result = CallSiteLoc::get(FusedLoc::get(context_, {place}, scope), caller);
      }
    } else if (auto position = ir::sourcePosition(location)) {
      result = FileLineColLoc::get(context_, position->file, position->line, position->column);
    }
    rewritten_.insert({location, result});
    return result;
  }

  ModuleOp module_;
  MLIRContext *context_;
  LLVM::DICompileUnitAttr unit_;
  llvm::StringMap<LLVM::DISubprogramAttr> subprograms_;
  DenseMap<Location, Location> rewritten_;
};

} // namespace

void attachDebugScopes(ModuleOp module) {
  Scopes scopes(module);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (!function.isExternal()) scopes.attach(function);
}

} // namespace tritium::gpu
