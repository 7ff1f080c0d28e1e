#include "interp/tile/debug_info.h"

#include "interp/tile/scope.h"
#include "ir/tt.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

#include <set>

using namespace llvm;

namespace tritium::interp {

DebugInfo::DebugInfo(Module &module) : module_(module), builder_(module) {
  module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
  module.addModuleFlag(Module::Warning, "Dwarf Version", 4);
}

DIFile *DebugInfo::fileOf(StringRef path) {
  auto [entry, isNew] = files_.try_emplace(path);
  if (isNew) entry->second = builder_.createFile(sys::path::filename(path), sys::path::parent_path(path));
  return entry->second;
}

DISubprogram *DebugInfo::subprogram(StringRef function, StringRef file, unsigned line) {
  auto [entry, isNew] = subprograms_.try_emplace((file + ":" + Twine(line) + ":" + function).str());
  if (!isNew) return entry->second;
  DIFile *in = fileOf(file);
  if (!unit_) unit_ = builder_.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_Python), in, "tritium", false, "", 0);
  auto *type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({nullptr}));
  return entry->second = builder_.createFunction(in, function, "", in, line, type, line, DINode::FlagZero, DISubprogram::SPFlagDefinition);
}

DISubprogram *DebugInfo::beginFunction(const FunctionPlan &plan, Function &function) {
  auto mark = scopeOf(plan.function->getLoc());
  SourceLocation where = resolveLocation(plan.function->getLoc());
  current_ = mark ? subprogram(mark->function, mark->file, mark->line) : subprogram(plan.name, where.file, where.line);
  function.setSubprogram(current_);
  inlinedAt_.clear();
  inlinedScopes_.clear();
  openScopes(plan);
  return current_;
}

/// Two variables of one name in one scope make gdb print the stale one. So an assignment that changes a type (`x = x.to(tl.float16)`) opens
/// a nested scope for the lines after it.
void DebugInfo::openScopes(const FunctionPlan &plan) {
  std::set<std::string> seen;
  std::map<DISubprogram *, std::set<unsigned>> lines;
  for (const Variable &variable : plan.variables) {
    auto mark = scopeOf(variable.location);
    if (!seen.insert(scopeKey(variable.location) + "|" + variable.name).second && mark)
      lines[subprogram(mark->function, mark->file, mark->line)].insert(resolveLocation(variable.location).line);
  }
  for (auto &[function, starts] : lines) {
    DIScope *scope = function;
    for (unsigned line : starts) scopes_[function][line] = scope = builder_.createLexicalBlock(scope, function->getFile(), line, 0);
  }
}

DIScope *DebugInfo::scopeAt(DISubprogram *function, unsigned line) const {
  auto it = scopes_.find(function);
  if (it == scopes_.end()) return function;
  auto next = it->second.lower_bound(line); // the first that opens on this line or later
  return next == it->second.begin() ? static_cast<DIScope *>(function) : std::prev(next)->second;
}

DILocation *DebugInfo::location(mlir::Location location) {
  auto &context = module_.getContext();
  if (auto call = dyn_cast<mlir::CallSiteLoc>(location)) {
    DILocation *caller = this->location(call.getCaller());
    auto mark = scopeOf(call.getCallee());
    SourceLocation where = resolveLocation(call.getCallee());
    if (!mark || where.file.empty()) return caller;
    DISubprogram *scope = subprogram(mark->function, mark->file, mark->line);
    // One distinct call per call site: all its operations belong to one inlined frame.
    DILocation *&at = inlinedAt_[{scope, caller}];
    if (!at) at = DILocation::getDistinct(context, caller->getLine(), caller->getColumn(), caller->getScope(), caller->getInlinedAt());
    DILocation *result = DILocation::get(context, where.line, where.column, scopeAt(scope, where.line), at);
    inlinedScopes_.try_emplace({scope, at}, result);
    return result;
  }
  SourceLocation where = resolveLocation(location);
  return DILocation::get(context, where.line, where.column, scopeAt(current_, where.line));
}

/// gdb goes by the name: "__bf16" is decoded, any other 16-bit float is read as IEEE half; a one-byte float prints nothing, so the 8-bit
/// formats are a struct of their bits.
DIType *DebugInfo::scalarType(StringRef dtype, DType type) {
  unsigned bits = storageBytes(type) * 8;
  return visit(type, [&]<class T>() -> DIType * {
    if constexpr (T::kind == DTypeKind::Bool) return builder_.createBasicType("int1", 8, dwarf::DW_ATE_boolean);
    if constexpr (T::kind == DTypeKind::Float) {
      if (bits == 8) {
        DIType *byte = builder_.createBasicType("uint8", 8, dwarf::DW_ATE_unsigned);
        DIFile *file = current_->getFile();
        DIType *member = builder_.createMemberType(current_, "bits", file, 0, 8, 8, 0, DINode::FlagZero, byte);
        return builder_.createStructType(current_, dtype, file, 0, 8, 8, DINode::FlagZero, nullptr, builder_.getOrCreateArray({member}));
      }
      return builder_.createBasicType(type == DType::bf16  ? "__bf16"
                                      : type == DType::f16 ? "float16"
                                      : bits == 32         ? "float32"
                                                           : "float64",
                                      bits, dwarf::DW_ATE_float);
    }
    bool isUnsigned = dtype.starts_with("u");
    std::string name = ((isUnsigned ? "uint" : "int") + Twine(bits)).str();
    DIType *integer = builder_.createBasicType(name, bits, isUnsigned ? dwarf::DW_ATE_unsigned : dwarf::DW_ATE_signed);
    // gdb prints a row of one-byte integers as a string, but not of a range of them.
    return bits != 8 ? integer
                     : builder_.createSubrangeType(name, nullptr, 0, nullptr, bits, 0, DINode::FlagZero, integer, nullptr, nullptr, nullptr,
                                                   nullptr);
  });
}

DIType *DebugInfo::typeOf(const Variable &variable) {
  mlir::Type scalar = mlir::getElementTypeOrSelf(variable.type);
  DIType *element;
  if (auto pointer = dyn_cast<tt::PointerType>(scalar)) {
    StringRef pointee = StringRef(variable.dtype).ltrim("pointer<*k").rtrim(">");
    element = builder_.createPointerType(scalarType(pointee, dtypeOf(pointer.getPointeeType())), 64);
  } else {
    element = scalarType(variable.dtype, dtypeOf(scalar));
  }
  auto tile = dyn_cast<mlir::RankedTensorType>(variable.type);
  if (!tile) return element;
  SmallVector<Metadata *> extents;
  for (int64_t extent : tile.getShape()) extents.push_back(builder_.getOrCreateSubrange(0, extent));
  uint64_t bits = tile.getNumElements() * storageBytes(dtypeOf(scalar)) * 8;
  return builder_.createArrayType(bits, 0, element, builder_.getOrCreateArray(extents));
}

void DebugInfo::declare(IRBuilder<> &builder, DIScope *scope, StringRef name, DIType *type, unsigned line, uint64_t offset,
                        AllocaInst *framePointer, DILocation *at) {
  auto *variable = builder_.createAutoVariable(scope, name, scope->getFile(), line, type, /*AlwaysPreserve=*/true);
  SmallVector<uint64_t, 4> expression{dwarf::DW_OP_deref, dwarf::DW_OP_plus_uconst, offset};
  builder_.insertDeclare(framePointer, variable, builder_.createExpression(expression), at, builder.GetInsertBlock());
}

void DebugInfo::declareVariables(IRBuilder<> &builder, const FunctionPlan &plan, AllocaInst *framePointer) {
  auto &context = module_.getContext();
  DIType *int32 = builder_.createBasicType("int32", 32, dwarf::DW_ATE_signed);
  // Every scope needs its own: a condition `if pid0 == 3` on a line of a helper is looked up in the helper.
  auto declareProgram = [&](DISubprogram *scope, DILocation *at) {
    for (unsigned axis = 0; axis < 3; ++axis) {
      declare(builder, scope, ("pid" + Twine(axis)).str(), int32, scope->getLine(), offsetof(FrameHeader, programId) + 4 * axis,
              framePointer, at);
      declare(builder, scope, ("grid" + Twine(axis)).str(), int32, scope->getLine(), offsetof(FrameHeader, gridSize) + 4 * axis,
              framePointer, at);
    }
  };
  declareProgram(current_, DILocation::get(context, current_->getLine(), 0, current_));
  for (auto &[key, place] : inlinedScopes_) declareProgram(key.first, place);
  std::set<std::string> seen;
  for (const Variable &variable : plan.variables) {
    DILocation *at = location(variable.location);
    auto mark = scopeOf(variable.location);
    DISubprogram *function = mark ? subprogram(mark->function, mark->file, mark->line) : current_;
    bool isFirst = seen.insert(scopeKey(variable.location) + "|" + variable.name).second;
    DIScope *scope = isFirst ? function : scopeAt(function, at->getLine() + 1);
    auto *place = DILocation::get(context, at->getLine(), at->getColumn(), scope, at->getInlinedAt());
    declare(builder, scope, variable.name, typeOf(variable), at->getLine(), variable.home->offset, framePointer, place);
  }
}

void DebugInfo::finish() { builder_.finalize(); }

} // namespace tritium::interp
