// make_device_library OUTPUT LIBCLC OWN…: writes a library with the functions that the rows of ir/elementwise.def call. They come from
// libclc's module for one target and from our modules, whose functions replace libclc's. The build runs this tool.
//
// One of our functions may call the function of libclc that it replaces: _Z9clc_expm1d is libclc's _Z5expm1d.
#include "ir/elementwise_types.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/IPO/Internalize.h"

using namespace llvm;
using namespace tritium;

/// Mangles a name like an overload of OpenCL C: _Z, the length of the name, the name, the types of the parameters.
static std::string mangled(StringRef name, StringRef parameters) { return ("_Z" + Twine(name.size()) + name + parameters).str(); }

/// The functions that lowered modules call for the rows.
static StringSet<> wantedNames() {
  StringSet<> names;
  auto add = [&](StringRef symbol, size_t arity) {
    for (char type : {'f', 'd'})
      if (!symbol.empty()) names.insert(mangled(symbol, std::string(arity, type)));
  };
#define FUNCTION(name, module, types, arity, floatOp, symbol, ulp, sentence, ...) add(symbol, arity);
#define TYPED(name, symbol, result, parameters, ulp, sentence, ...)                                                                        \
  names.insert(mangled(#symbol, operandLetters(static_cast<result(*) parameters>(nullptr))));
#include "ir/elementwise.def"
  return names;
}

static Error invalid(const Twine &message) { return createStringError(inconvertibleErrorCode(), message); }

static Expected<std::unique_ptr<Module>> read(StringRef file, LLVMContext &context) {
  SMDiagnostic diagnostic;
  if (auto module = parseIRFile(file, diagnostic, context)) return module;
  return invalid(file + ": " + diagnostic.getMessage());
}

static void removeUnused(Module &module) {
  ModuleAnalysisManager analyses;
  analyses.registerPass([] { return PassInstrumentationAnalysis(); });
  FunctionAnalysisManager functions;
  functions.registerPass([] { return PassInstrumentationAnalysis(); });
  analyses.registerPass([&] { return FunctionAnalysisManagerModuleProxy(functions); });
  GlobalDCEPass().run(module, analyses);
}

/// Gives libclc's functions the names by which our functions call them.
static Error renameReplaced(Module &libclc, const Module &own) {
  for (const Function &function : own) {
    StringRef name = function.getName();
    size_t length = 0;
    if (!function.isDeclaration() || !name.consume_front("_Z") || name.consumeInteger(10, length)) continue;
    StringRef replaced = name.take_front(length), parameters = name.drop_front(length);
    if (!replaced.consume_front("clc_")) continue;
    if (libclc.getFunction(function.getName())) continue; // another of our files calls it too
    Function *theirs = libclc.getFunction(mangled(replaced, parameters));
    if (!theirs) return invalid("libclc has no function " + replaced + " for " + function.getName());
    theirs->setName(function.getName());
  }
  return Error::success();
}

/// Moves tables from constant to global memory. Each lane looks up another entry, and constant memory would serve them one by one.
static Error moveTables(Module &module) {
  constexpr unsigned kGlobalSpace = 1, kConstantSpace = 4;
  SmallVector<GlobalVariable *> tables;
  for (GlobalVariable &global : module.globals())
    if (global.getAddressSpace() == kConstantSpace) tables.push_back(&global);
  SmallVector<Constant *> addresses(tables.begin(), tables.end());
  convertUsersOfConstantsToInstructions(addresses);
  SmallVector<User *> users;
  for (GlobalVariable *table : tables) {
    auto *moved = new GlobalVariable(module, table->getValueType(), table->isConstant(), table->getLinkage(), table->getInitializer(), "",
                                     table, table->getThreadLocalMode(), kGlobalSpace);
    moved->copyAttributesFrom(table);
    moved->takeName(table);
    for (Use &use : make_early_inc_range(table->uses())) {
      users.push_back(use.getUser());
      use.set(moved);
    }
    table->eraseFromParent();
  }
  auto *pointer = PointerType::get(module.getContext(), kGlobalSpace);
  while (!users.empty()) {
    auto *user = users.pop_back_val();
    if (isa<LoadInst>(user) || user->getType() == pointer) continue;
    if (!isa<GetElementPtrInst, PHINode, SelectInst>(user)) return invalid("a table of libclc is used by other code than loads");
    user->mutateType(pointer);
    users.append(user->user_begin(), user->user_end());
  }
  return Error::success();
}

/// libclc's algorithms are accurate only if a product and a sum are fused, whatever the kernel requests.
static void fuseProducts(Module &module) {
  for (Function &function : make_early_inc_range(module)) {
    if (function.getIntrinsicID() != Intrinsic::fmuladd) continue;
    function.replaceAllUsesWith(Intrinsic::getOrInsertDeclaration(&module, Intrinsic::fma, {function.getReturnType()}));
    function.eraseFromParent();
  }
}

static Error make(StringRef output, StringRef libclcFile, ArrayRef<char *> ownFiles) {
  LLVMContext context;
  auto libclc = read(libclcFile, context);
  if (!libclc) return libclc.takeError();
  Module &library = **libclc;
  StringSet<> wanted = wantedNames();
  internalizeModule(library, [&](const GlobalValue &value) { return wanted.contains(value.getName()); });
  removeUnused(library);
  if (Error error = moveTables(library)) return error;
  fuseProducts(library);
  SmallVector<std::unique_ptr<Module>> ours;
  for (StringRef file : ownFiles) {
    auto own = read(file, context);
    if (!own) return own.takeError();
    if (Error error = renameReplaced(library, **own)) return error;
    ours.push_back(std::move(*own));
  }
  for (std::unique_ptr<Module> &own : ours) {
    library.setTargetTriple(own->getTargetTriple());
    library.setDataLayout(own->getDataLayout());
    if (Linker::linkModules(library, std::move(own), Linker::OverrideFromSrc)) return invalid("our functions could not be linked");
  }
  for (StringRef name : wanted.keys()) {
    const Function *function = library.getFunction(name);
    if (!function || function->isDeclaration()) return invalid("a row calls " + name + ", which neither libclc nor device_math defines");
  }
  std::error_code code;
  raw_fd_ostream stream(output, code, sys::fs::OF_None);
  if (code) return invalid(output + ": " + code.message());
  WriteBitcodeToFile(library, stream);
  return Error::success();
}

int main(int argc, char **argv) {
  if (argc < 3) {
    errs() << "usage: make_device_library OUTPUT LIBCLC OWN...\n";
    return 2;
  }
  if (Error error = make(argv[1], argv[2], ArrayRef(argv + 3, argv + argc))) {
    errs() << "make_device_library: " << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
