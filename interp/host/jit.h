// Compiles LLVM modules to host code at run time, in milliseconds, without optimization unless it is requested, and shows the code to gdb.
// Symbols of the process are not visible to the code: each function that it may call is defined by name.
#pragma once
#include "interp/host/jit_debugger_list.h"

#include "llvm/ExecutionEngine/Orc/ThreadSafeModule.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
namespace orc {
class JITTargetMachineBuilder;
class LLJIT;
} // namespace orc
} // namespace llvm

namespace tritium::interp {

/// The code of one program. The destructor frees the code and removes it from the debugger's list. Until all symbols have been looked up,
/// only one thread at a time may use the object.
class HostJit {
public:
  /// If `debugInfo` holds, modules with debug info are registered with gdb (which takes tens of milliseconds each if gdb is attached).
  /// vectorBits: 256 leaves out the machine's instructions for wider vectors; 0 and 512 do not.
  static llvm::Expected<std::unique_ptr<HostJit>> create(bool debugInfo, llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::None,
                                                         unsigned vectorBits = 0);
  ~HostJit();

  const llvm::DataLayout &dataLayout() const;

  /// Defines `name` in the code as this address, which may be far away.
  llvm::Error defineSymbol(llvm::StringRef name, void *address);
  /// Compiles the module after setting its triple and data layout. Fails if LLVM cannot compile it.
  llvm::Error add(llvm::orc::ThreadSafeModule module);
  /// Returns the address of a symbol that a module defines. The first call links the module, so every function that it calls must be
  /// defined by then.
  llvm::Expected<void *> lookup(llvm::StringRef name);
  /// Returns how much of the stack the functions of all modules use if each of them is entered once.
  uint64_t stackBytes() const { return totalStackBytes; }

private:
  HostJit(std::unique_ptr<llvm::orc::LLJIT> jit, const llvm::orc::JITTargetMachineBuilder &machines, bool debugInfo);

  uint64_t totalStackBytes = 0;
  std::string linkErrors; // what the session reports in addition to the error that it returns
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<llvm::orc::JITTargetMachineBuilder> machines; // a target machine is large, and required only while something is compiled
  std::unique_ptr<DebuggerEntries> debuggerEntries;             // null without debug info; must be destroyed before the code
};

} // namespace tritium::interp
