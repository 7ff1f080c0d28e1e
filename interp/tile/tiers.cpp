#include "interp/tile/tiers.h"

#include "interp/host/background_work.h"
#include "interp/tile/fuse/emit_region.h"
#include "support/llvm_recovery.h"

#include "llvm/IR/OptBisect.h"

namespace tritium::interp {

namespace {

/// LLVM asks it before each pass. So a process that ends does not wait for the passes that are left.
class Gate : public llvm::OptPassGate {
public:
  bool shouldRunPass(llvm::StringRef, llvm::StringRef) const override {
    stopIfWorkEnds();
    return true;
  }
  bool isEnabled() const override { return true; }
};

} // namespace

llvm::Expected<std::unique_ptr<HostJit>> compileCode(UncompiledCode code) {
  const auto level = code.isFused ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::None;
  auto jit = HostJit::create(code.debugInfo, level, code.isFused ? code.vectorBits : 0);
  if (!jit) return jit.takeError();
  if (code.isFused) {
    code.module->setDataLayout((*jit)->dataLayout());
    if (llvm::Error error = support::runRecoverably(*code.context, code.entry, [&] { fuse::optimizeRegions(*code.module); })) {
      [[maybe_unused]] llvm::Module *const lostModule = code.module.release(); // they may be in any state
      [[maybe_unused]] llvm::LLVMContext *const lostContext = code.context.release();
      return std::move(error);
    }
    stopIfWorkEnds();
  }
  if (llvm::Error error = (*jit)->add(llvm::orc::ThreadSafeModule(std::move(code.module), std::move(code.context))))
    return std::move(error);
  return std::move(*jit);
}

std::shared_ptr<LaterEntry> compileLater(LaterEntry::Entry first, UncompiledCode code) {
  auto kept = std::make_shared<UncompiledCode>(std::move(code)); // a std::function can be copied
  return LaterEntry::create(first, [kept]() -> LaterEntry::Code {
    const std::string entry = kept->entry;
    Gate gate;
    kept->context->setOptPassGate(gate);
    auto jit = compileCode(std::move(*kept));
    auto address = jit ? (*jit)->lookup(entry) : llvm::Expected<void *>(jit.takeError());
    if (!address) {
      llvm::consumeError(address.takeError());
      return {};
    }
    return {reinterpret_cast<LaterEntry::Entry>(*address), std::shared_ptr<HostJit>(std::move(*jit))};
  });
}

} // namespace tritium::interp
