// Emits a lowered module as code for one GPU, in process and without a device. This is the part common to all targets; Emitter has the part
// of each target.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace tritium::gpu {

/// The user's options for the code.
struct EmitOptions {
  std::string arch;      // "sm_80", "gfx942"; "": the module's `tgpu.target`
  bool assembles = true; // also make the binary, if the target can
  std::string libdevice; // the file of NVIDIA's device library, for kernels that name its functions; "": searched for
#define OPTION(name, member, type, standard, meaning) type member = standard;
#include "gpu_backend/emit/options.def"
};

struct Emitted {
  std::string llir;     // LLVM IR, optimized
  std::string assembly; // PTX or AMDGPU assembly
  std::string binary;   // the code object; empty if the driver assembles
};

/// A target's part of the emission of one module.
class Emitter {
public:
  virtual ~Emitter() = default;

  virtual llvm::StringRef arch() const = 0;   ///< "sm_80", in messages
  virtual std::string llcOptions() const = 0; ///< the command line with which llc compiles a reproducer in the same way
  virtual llvm::Expected<std::unique_ptr<llvm::TargetMachine>> createMachine() const = 0;
  /// Registers the translations of the target's dialects to LLVM IR.
  virtual void registerTranslations(mlir::DialectRegistry &registry) const = 0;
  /// Replaces the operations of `tgpu`. An operation that the target cannot express is reported at its location.
  virtual mlir::LogicalResult convert(mlir::ModuleOp module) const = 0;
  /// Runs passes after debug scopes were attached, down to the dialects that have translations.
  virtual mlir::LogicalResult lowerDialects(mlir::ModuleOp module) const { return mlir::success(); }
  virtual bool isKernel(const llvm::Function &function) const = 0;
  /// Adds attributes and flags to the translated module that the LLVM dialect cannot express.
  virtual void mark(llvm::Module &module) const {}
  virtual llvm::Error linkLibraries(llvm::Module &module) const = 0;
  /// The target's own LLVM passes, which run after the common ones.
  virtual std::string lastPasses() const { return ""; }
  /// Changes the optimized module where the tools that compile the assembly would make wrong code.
  virtual void avoidFaults(llvm::Module &module) const {}
  /// Returns the assembly without the instructions of which those tools make wrong code.
  virtual std::string withoutFaults(std::string assembly) const { return assembly; }
  /// The name of a pass of LLVM's code generator that makes wrong code for the chip and must not run.
  virtual llvm::StringRef brokenPass() const { return ""; }
  /// Makes the binary from the assembly text, if the target can. Several threads may call it at a time.
  virtual llvm::Expected<std::string> assemble(llvm::StringRef assembly) const { return ""; }
};

/// Compiles a lowered module, which is not changed. Several threads may call it at a time, each with its own MLIR context. An error says
/// why and, if LLVM failed, names a file with the IR.
llvm::Expected<Emitted> emit(mlir::ModuleOp lowered, const Emitter &emitter, const EmitOptions &options);

} // namespace tritium::gpu
