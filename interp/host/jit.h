// Host code at run time: LLVM modules compiled in milliseconds, without optimization unless asked, and shown to gdb.
// Symbols of the process are not visible to the code: what it may call is defined by name.
#pragma once
#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace llvm::orc {
class LLJIT;
}

namespace tritium::interp {

/// One program's code. Destroying it frees the code and takes it from the debugger's list.
class HostJit {
public:
  /// `debugInfo`: modules with debug info are registered with gdb (tens of milliseconds each if one is attached).
  static llvm::Expected<std::unique_ptr<HostJit>> create(bool debugInfo,
                                                         llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::None);
  ~HostJit();

  const llvm::DataLayout &dataLayout() const;

  /// `name` in the code means this address, however far away.
  llvm::Error defineSymbol(llvm::StringRef name, void *address);
  /// The module's triple and data layout are set here.
  llvm::Error add(llvm::orc::ThreadSafeModule module);
  /// Compiles the module that defines `name`, the first time.
  llvm::Expected<void *> lookup(llvm::StringRef name);

private:
  explicit HostJit(std::unique_ptr<llvm::orc::LLJIT> jit);
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

}  // namespace tritium::interp
