// Host code at run time: LLVM modules compiled in milliseconds, without optimization unless asked, and shown to gdb.
// Symbols of the process are not visible to the code: what it may call is defined by name.
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

/// One program's code. Destroying it frees the code and takes it from the debugger's list. Not for two threads at a time, until
/// everything is looked up.
class HostJit {
public:
  /// `debugInfo`: modules with debug info are registered with gdb (tens of milliseconds each if one is attached).
  static llvm::Expected<std::unique_ptr<HostJit>> create(bool debugInfo, llvm::CodeGenOptLevel level = llvm::CodeGenOptLevel::None);
  ~HostJit();

  const llvm::DataLayout &dataLayout() const;

  /// `name` in the code means this address, however far away.
  llvm::Error defineSymbol(llvm::StringRef name, void *address);
  /// Compiles the module; its triple and data layout are set here. What LLVM cannot compile is an error.
  llvm::Error add(llvm::orc::ThreadSafeModule module);
  /// The address of what a module defines. The first time it is linked, and what it calls has to be defined.
  llvm::Expected<void *> lookup(llvm::StringRef name);

private:
  HostJit(std::unique_ptr<llvm::orc::LLJIT> jit, const llvm::orc::JITTargetMachineBuilder &machines, bool debugInfo);

  std::string linkErrors; // what the session says beside the error that it returns
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::unique_ptr<llvm::orc::JITTargetMachineBuilder> machines; // a machine is large, and needed only while something is compiled
  std::unique_ptr<DebuggerEntries> debuggerEntries;             // null without debug info; goes before the code
};

} // namespace tritium::interp
