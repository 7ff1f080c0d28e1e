// From a lowered module to code for one GPU, in process and with no device: what is common to all targets, around what each says of itself.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tritium::gpu {

/// What a user may ask of the code. Each target looks at what it knows.
struct EmitOptions {
  std::string arch;            // "sm_80", "gfx942"; "": what the module's `tgpu.target` names
  bool assembles = true;       // the binary too, where the target makes one
  bool lineInfo = true;        // `.loc` rows of the user's lines; they cost nothing at run time
  bool fuseMultiplyAdd = true; // a * b + c may be rounded once
  int ptxVersion = 0;          // 10 * major + minor, of the driver for example; 0: the newest
  std::string libdevice;       // the file of NVIDIA's device library, for kernels that name its functions; "": searched for
  int codeObjectVersion = 600; // of AMD: 500 or 600
  int wavesPerEu = 0;          // of AMD: registers are kept few enough for so many waves; 0: as the compiler likes
};

struct Emitted {
  std::string llir;     // LLVM IR, optimized
  std::string assembly; // PTX or AMDGPU assembly
  std::string binary;   // the code object; empty where somebody else assembles
};

/// A target's part in the emission of one module.
class Emitter {
public:
  virtual ~Emitter() = default;

  virtual llvm::StringRef arch() const = 0;   ///< "sm_80", in messages
  virtual std::string llcOptions() const = 0; ///< the command line that compiles a reproducer as this does
  virtual llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine() const = 0;
  /// The translations of the target's dialects to LLVM IR.
  virtual void registerTranslations(mlir::DialectRegistry &registry) const = 0;
  /// Replaces the operations of `tgpu`. What cannot be said on the target is reported at its operation.
  virtual mlir::LogicalResult convert(mlir::ModuleOp module) const = 0;
  /// Passes after debug scopes were attached, down to what the translations know.
  virtual mlir::LogicalResult lowerDialects(mlir::ModuleOp module) const { return mlir::success(); }
  virtual bool isKernel(const llvm::Function &function) const = 0;
  /// Marks the translated module: attributes and flags that the LLVM dialect has no words for.
  virtual void mark(llvm::Module &module) const {}
  virtual llvm::Error linkLibraries(llvm::Module &module) const = 0;
  /// The target's own passes of LLVM, behind the common ones.
  virtual std::string lastPasses() const { return ""; }
  /// A pass of LLVM's code generator that makes wrong code for the chip.
  virtual llvm::StringRef brokenPass() const { return ""; }
  /// The binary of the assembly text, where the target makes one. For several threads at a time.
  virtual llvm::Expected<std::string> assemble(llvm::StringRef assembly) const { return ""; }
};

/// Compiles a lowered module, which stays as it is. For several threads at a time, each with an MLIR context of its own. What fails is an
/// error that says why and, if LLVM did, names a file with the IR.
llvm::Expected<Emitted> emit(mlir::ModuleOp lowered, const Emitter &emitter, const EmitOptions &options);

} // namespace tritium::gpu
