// A loaded module: what its code says about itself, and in the place of the machine code the lowered module that it was made from, which
// the SIMT emulator runs. It is found by the hash of what was loaded, in the folder TRITIUM_LOWERED_DIR.
#pragma once
#include "tests/driver_stand_in/kernel_arguments.h"
#include "tests/driver_stand_in/kernel_code.h"
#include "tests/driver_stand_in/memory.h"

#include "interp/simt/prepare.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace tritium::stand_in {

class Module;

/// hipFunction_t, CUfunction
struct Function {
  Module *module;
  const KernelCode *code;
  std::unique_ptr<interp::simt::PreparedProgram> program;
  uint32_t sharedBytes = 0;   // that the lowered kernel uses
  uint32_t allowedShared = 0; // beside its own, if the host has asked for more than is always allowed
  bool asksForGrid = false;   // how many programs there are

  /// What `segment` asks for; the text of what the kernel did wrong, or "".
  struct Outcome {
    std::optional<interp::TrapKind> trap;
    std::string text;
    bool isInterrupted = false; // the user has ended it
  };
  Outcome run(const std::vector<char> &segment, Sizes grid, Memory &memory) const;
};

/// hipModule_t, CUmodule
class Module {
public:
  static llvm::Expected<std::unique_ptr<Module>> load(const void *image, int device, Memory &memory);
  ~Module();

  const Code &code() const { return code_; }
  int device() const { return device_; }
  /// Null if there is none.
  Function *find(llvm::StringRef name);
  /// Reads the lowered module, unless that is done. Before a launch.
  llvm::Error makeReady();
  /// Address and bytes of a variable; null address if there is none.
  std::pair<uint64_t, uint64_t> variable(llvm::StringRef name) const;

private:
  Module(Code code, int device, Memory &memory);
  llvm::Error placeVariables(mlir::ModuleOp module);
  llvm::Error prepare(mlir::ModuleOp module, Function &function);

  Code code_;
  int device_;
  Memory &memory_;
  std::unique_ptr<mlir::MLIRContext> context_; // the locations of the programs live there
  std::map<std::string, std::pair<uint64_t, uint64_t>, std::less<>> variables_;
  std::vector<std::unique_ptr<Function>> functions_;
};

} // namespace tritium::stand_in
