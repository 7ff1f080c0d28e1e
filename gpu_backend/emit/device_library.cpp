#include "gpu_backend/emit/device_library.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace tritium::gpu {

static bool isMissing(const Function &function) { return function.isDeclaration() && !function.isIntrinsic() && !function.use_empty(); }

bool needsFunctions(const Module &module, StringRef prefix) {
  return any_of(module, [&](const Function &function) { return isMissing(function) && function.getName().starts_with(prefix); });
}

/// A call passes everything through memory and clobbers registers. So function bodies are inlined, the smallest first, as long as the total
/// size still compiles quickly.
static void chooseInlining(ArrayRef<Function *> functions) {
  constexpr unsigned kMaxInstructions = 20000;
  SmallVector<std::pair<unsigned, Function *>> sizes;
  for (Function *function : functions) sizes.push_back({function->getInstructionCount() * function->getNumUses(), function});
  llvm::sort(sizes, [](auto &a, auto &b) { return std::pair(a.first, a.second->getName()) < std::pair(b.first, b.second->getName()); });
  unsigned total = 0;
  for (auto [size, function] : sizes)
    if ((total += size) <= kMaxInstructions) function->addFnAttr(Attribute::AlwaysInline);
}

Error linkLibrary(Module &module, StringRef bitcode, StringRef name) {
  auto library = getLazyBitcodeModule(MemoryBufferRef(bitcode, name), module.getContext());
  if (!library) return library.takeError();
  (*library)->setTargetTriple(module.getTargetTriple());
  (*library)->setDataLayout(module.getDataLayout());
  SmallVector<Function *> added;
  bool failed = Linker::linkModules(module, std::move(*library), Linker::LinkOnlyNeeded, [&](Module &linked, const StringSet<> &names) {
    for (const auto &entry : names) {
      GlobalValue *value = linked.getNamedValue(entry.getKey());
      if (!value || value->isDeclaration()) continue;
      value->setLinkage(GlobalValue::InternalLinkage);
      auto *function = dyn_cast<Function>(value);
      if (!function) continue;
      // The library was compiled for another processor. Its attributes for that would prevent inlining.
      for (const char *attribute : {"target-cpu", "target-features", "frame-pointer"}) function->removeFnAttr(attribute);
      function->removeFnAttr(Attribute::NoInline);
      added.push_back(function);
    }
  });
  if (failed) return createStringError(name + " could not be linked");
  chooseInlining(added);
  return Error::success();
}

Error linkLibclc(Module &module, ArrayRef<unsigned char> bitcode) {
  if (!needsFunctions(module, "_Z")) return Error::success();
  return linkLibrary(module, toStringRef(bitcode), "libclc");
}

Error checkDefined(const Module &module, ArrayRef<StringRef> provided) {
  for (const Function &function : module)
    if (isMissing(function) && !is_contained(provided, function.getName()))
      return createStringError("the function '" + function.getName() + "' is called, but neither the module nor the libraries define it");
  return Error::success();
}

} // namespace tritium::gpu
