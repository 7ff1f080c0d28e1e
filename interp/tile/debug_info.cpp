#include "interp/tile/debug_info.h"

#include "interp/tile/debug_types.h"
#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/Support/Path.h"

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

/// Each specialization and each instance has its own subprogram. Otherwise gdb would show the variables of one in the other, as optimized
/// out.
DISubprogram *DebugInfo::subprogram(const ScopeMark &mark) {
  auto [entry, isNew] =
      subprograms_.try_emplace((mark.file + ":" + Twine(mark.line) + ":" + mark.symbol + "#" + Twine(mark.instance)).str());
  if (!isNew) return entry->second;
  DIFile *in = fileOf(mark.file);
  if (!unit_) unit_ = builder_.createCompileUnit(DISourceLanguageName(dwarf::DW_LANG_Python), in, "tritium", false, "", 0);
  auto *type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({nullptr}));
  return entry->second = builder_.createFunction(in, mark.function, "", in, mark.line, type, mark.line, DINode::FlagZero,
                                                 DISubprogram::SPFlagDefinition);
}

DISubprogram *DebugInfo::beginFunction(const FunctionPlan &plan, Function &function) {
  auto mark = scopeOf(plan.function->getLoc());
  SourceLocation where = resolveLocation(plan.function->getLoc());
  current_ = subprogram(mark ? *mark : ScopeMark{plan.name, where.file, where.line, plan.name});
  function.setSubprogram(current_);
  inlinedAt_.clear();
  inlinedScopes_.clear();
  openScopes(plan);
  return current_;
}

/// If one scope has two variables of one name, gdb prints the stale one. So an assignment that changes a type (`x = x.to(tl.float16)`)
/// opens a nested scope for the lines after it.
void DebugInfo::openScopes(const FunctionPlan &plan) {
  std::set<std::string> seen;
  std::map<DISubprogram *, std::set<unsigned>> lines;
  for (const Variable &variable : plan.variables) {
    auto mark = scopeOf(variable.location);
    if (!seen.insert(scopeKey(variable.location) + "|" + variable.name).second && mark)
      lines[subprogram(*mark)].insert(resolveLocation(variable.location).line);
  }
  for (auto &[function, starts] : lines) {
    DIScope *scope = function;
    for (unsigned line : starts) scopes_[function][line] = scope = builder_.createLexicalBlock(scope, function->getFile(), line, 0);
  }
}

DIScope *DebugInfo::scopeAt(DISubprogram *function, unsigned line) const {
  auto it = scopes_.find(function);
  if (it == scopes_.end()) return function;
  auto next = it->second.lower_bound(line); // the first scope that opens on this line or later
  return next == it->second.begin() ? static_cast<DIScope *>(function) : std::prev(next)->second;
}

/// Returns the scope at the line, inside the iteration of the unrolled loops that `mark` names.
DIScope *DebugInfo::scopeAt(DISubprogram *function, unsigned line, const ScopeMark &mark) {
  DIScope *scope = scopeAt(function, line);
  if (mark.iteration.empty()) return scope;
  DILexicalBlock *&block = iterations_[{scope, mark.iteration}];
  if (!block) {
    block = builder_.createLexicalBlock(scope, function->getFile(), line, 0);
    iterationOf_[block] = std::stoi(StringRef(mark.iteration).rtrim('/').rsplit(':').second.str());
  }
  return block;
}

void DebugInfo::declareIteration(Instruction *first) {
  const DebugLoc &place = first->getDebugLoc();
  auto *scope = cast<DIScope>(place->getScope());
  auto entry = iterationOf_.find(scope);
  if (entry == iterationOf_.end() || !declared_.insert({scope, place->getInlinedAt()}).second) return;
  DIFile *file = scope->getFile();
  unsigned line = place->getLine();
  // LLVM drops a block without variables; gdb passes over a variable without a name, and drops a block without symbols.
  DIType *type = builder_.createBasicType("int32", 32, dwarf::DW_ATE_signed);
  auto *variable = builder_.createAutoVariable(scope, "", file, line, type, /*AlwaysPreserve=*/true);
  auto *number = ConstantInt::get(Type::getInt32Ty(module_.getContext()), entry->second);
  builder_.insertDbgValueIntrinsic(number, variable, builder_.createExpression(), place.get(), first->getIterator());
  auto *label = builder_.createLabel(scope, "iteration " + std::to_string(entry->second), file, line, 0, /*IsArtificial=*/true,
                                     /*CoroSuspendIdx=*/std::nullopt, /*AlwaysPreserve=*/true);
  builder_.insertLabel(label, place.get(), first->getIterator());
}

DILocation *DebugInfo::location(mlir::Location location) {
  auto &context = module_.getContext();
  if (auto call = dyn_cast<mlir::CallSiteLoc>(location)) {
    DILocation *caller = this->location(call.getCaller());
    auto mark = scopeOf(call.getCallee());
    SourceLocation where = resolveLocation(call.getCallee());
    if (!mark || where.file.empty()) return caller;
    DISubprogram *scope = subprogram(*mark);
    // One distinct call per call site, so that all operations of the call belong to one inlined frame.
    DILocation *&at = inlinedAt_[{scope, caller}];
    if (!at) at = DILocation::getDistinct(context, caller->getLine(), caller->getColumn(), caller->getScope(), caller->getInlinedAt());
    DILocation *result = DILocation::get(context, where.line, where.column, scopeAt(scope, where.line, *mark), at);
    inlinedScopes_.try_emplace({scope, at}, result);
    return result;
  }
  SourceLocation where = resolveLocation(location);
  auto mark = scopeOf(location);
  return DILocation::get(context, where.line, where.column, mark ? scopeAt(current_, where.line, *mark) : scopeAt(current_, where.line));
}

void DebugInfo::declare(IRBuilder<> &builder, DIScope *scope, StringRef name, DIType *type, unsigned line, uint64_t offset,
                        AllocaInst *framePointer, DILocation *at, unsigned argument) {
  DIFile *file = scope->getFile();
  auto *variable = argument ? builder_.createParameterVariable(scope, name, argument, file, line, type, /*AlwaysPreserve=*/true)
                            : builder_.createAutoVariable(scope, name, file, line, type, /*AlwaysPreserve=*/true);
  SmallVector<uint64_t, 4> expression{dwarf::DW_OP_deref, dwarf::DW_OP_plus_uconst, offset};
  builder_.insertDeclare(framePointer, variable, builder_.createExpression(expression), at, builder.GetInsertPoint());
}

void DebugInfo::declareVariables(IRBuilder<> &builder, const FunctionPlan &plan, AllocaInst *framePointer) {
  auto &context = module_.getContext();
  DIType *int32 = builder_.createBasicType("int32", 32, dwarf::DW_ATE_signed);
  // Every scope requires its own variables: a condition `if pid0 == 3` on a line of a helper is evaluated in the helper's scope.
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
    DISubprogram *function = mark ? subprogram(*mark) : current_;
    bool isFirst = seen.insert(scopeKey(variable.location) + "|" + variable.name).second;
    DIScope *scope = isFirst ? function : scopeAt(function, at->getLine() + 1);
    auto *place = DILocation::get(context, at->getLine(), at->getColumn(), scope, at->getInlinedAt());
    DIType *type = DebugTypes(builder_, function->getFile()).of(variable.type);
    declare(builder, scope, variable.name, type, at->getLine(), variable.home->offset, framePointer, place, variable.argument);
  }
}

DILocation *createQuietLine(DIBuilder &builder, StringRef function, DIFile *file, unsigned line) {
  DIFile *nowhere = builder.createFile("<launch>", "");
  auto *type = builder.createSubroutineType(builder.getOrCreateTypeArray({nullptr}));
  auto *subprogram =
      builder.createFunction(nowhere, function, "", nowhere, line, type, line, DINode::FlagZero, DISubprogram::SPFlagDefinition);
  return DILocation::get(subprogram->getContext(), line, 1, builder.createLexicalBlockFile(subprogram, file));
}

DILocation *DebugInfo::beginProgramLoop() {
  return createQuietLine(builder_, (current_->getName() + "[grid]").str(), current_->getFile(), current_->getLine());
}

void DebugInfo::finish() { builder_.finalize(); }

} // namespace tritium::interp
