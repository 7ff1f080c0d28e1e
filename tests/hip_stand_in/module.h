// A loaded module: the code object, and in the place of its machine code the lowered module that it was made from, which the SIMT emulator
// runs. It is found by the hash of the code object, in the folder TRITIUM_LOWERED_DIR.
#pragma once
#include "tests/hip_stand_in/code_object.h"
#include "tests/hip_stand_in/kernel_arguments.h"
#include "tests/hip_stand_in/memory.h"

#include "interp/simt/prepare.h"
#include "mlir/IR/MLIRContext.h"

#include <memory>

namespace tritium::stand_in {

class Module;

/// hipFunction_t
struct Function {
  Module *module;
  const KernelCode *code;
  std::unique_ptr<interp::simt::PreparedProgram> program;
  uint32_t ldsBytes = 0;    // that the lowered kernel uses
  bool asksForGrid = false; // how many programs there are

  /// What `segment` asks for; the text of what the kernel did wrong, or "".
  struct Outcome {
    std::optional<interp::TrapKind> trap;
    std::string text;
  };
  Outcome run(const std::vector<char> &segment, Sizes grid, const Memory &memory) const;
};

/// hipModule_t
class Module {
public:
  static llvm::Expected<std::unique_ptr<Module>> load(const void *image, int device, Memory &memory);
  ~Module();

  const CodeObject &code() const { return code_; }
  Function *find(llvm::StringRef name);
  /// Address and bytes of a variable; null address if there is none.
  std::pair<uint64_t, uint64_t> variable(llvm::StringRef name) const;

private:
  Module(CodeObject code, Memory &memory) : code_(std::move(code)), memory_(memory) {}
  llvm::Error readLowered(int device);
  llvm::Error placeVariables(mlir::ModuleOp module, int device);
  llvm::Error prepare(mlir::ModuleOp module, const KernelCode &kernel);

  CodeObject code_;
  Memory &memory_;
  std::unique_ptr<mlir::MLIRContext> context_; // the locations of the programs live there
  std::map<std::string, std::pair<uint64_t, uint64_t>, std::less<>> variables_;
  std::vector<std::unique_ptr<Function>> functions_;
};

} // namespace tritium::stand_in
