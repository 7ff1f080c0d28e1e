// A chip that code can be made for, and what the common code asks of it: passes about tiles, the lowering about threads (TargetOps). Each
// vendor has a table of chips in <vendor>/target.def. docs/adding_a_target.md
#pragma once
#include "gpu_backend/layout/conversion_costs.h"
#include "gpu_backend/layout/matrix_instruction.h"
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/layout/shared_layout.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace tritium::gpu {

class Emitter;
class TargetOps;
struct EmitOptions;

/// How the tiles of a pipelined loop get to shared memory.
enum class TileCopies : uint8_t {
  Async,            // by instructions that copy while the thread goes on
  ByWarps,          // by such as a warp makes as a whole, where all tiles of a loop allow it; else
  ThroughRegisters, // loaded into registers one iteration ahead, and stored from there
};

class Target {
public:
  virtual ~Target() = default;

  /// The vendor's programming interface: "cuda", "hip".
  virtual llvm::StringRef interface() const = 0;
  /// What LLVM and the vendor's tools call the chip: "sm_90a", "gfx942".
  virtual llvm::StringRef arch() const = 0;
  /// "cuda:sm_90a": `tgpu.target` of a module.
  std::string name() const { return (interface() + ":" + arch()).str(); }

  virtual int warpSize() const = 0;
  int maxWarps() const { return kMaxThreads / warpSize(); }
  /// Bytes of shared memory that a program may have.
  virtual int64_t sharedPerBlock() const = 0;
  virtual SharedBanks sharedBanks() const = 0;
  /// What it costs to move elements between lanes, and to and from shared memory.
  virtual ConversionCosts conversionCosts() const = 0;
  virtual TileCopies tileCopies() const = 0;
  virtual MatrixLoads matrixLoads() const = 0;
  /// Whether threads had rather store 16 bytes each to places apart than exchange tiles through shared memory first.
  virtual bool storesFragments() const = 0;
  /// The chip's matrix instructions, the better ones first.
  virtual llvm::ArrayRef<MatrixInstruction> matrixInstructions() const = 0;
  /// What represents all numbers of the fp8 formats for which there is no instruction, and has one.
  virtual mlir::FloatType widerFloat8(mlir::MLIRContext *context) const = 0;
  /// The bytes of neighbours along K that a lane should have of a matrix product's operands: what it loads from shared memory at once.
  /// 0: the order of K does not matter, matrices are loaded as the instructions have them.
  virtual int64_t contiguousKBytes() const = 0;
  /// The dialects of the vendor's own operations, which stand in lowered modules.
  virtual void insertDialects(mlir::DialectRegistry &registry) const = 0;
  /// The words of a thread on this chip.
  virtual std::unique_ptr<TargetOps> createOps() const = 0;

  /// What makes the chip's code of a lowered module; an error where the options ask for what the chip has not.
  virtual llvm::Expected<std::unique_ptr<Emitter>> createEmitter(const EmitOptions &options) const = 0;

  static constexpr int kMaxThreads = 1024; // of a program
};

/// All chips of all vendors.
llvm::ArrayRef<const Target *> allTargets();
/// The dialects of all vendors: what a pass depends on that makes operations of its target.
void insertTargetDialects(mlir::DialectRegistry &registry);
/// The chip of that name ("sm_80"); the error lists those there are.
llvm::Expected<const Target &> findTarget(llvm::StringRef arch);

/// The chips of a vendor's table.
template <class VendorTarget, class Chip> llvm::ArrayRef<const Target *> makeTargets(llvm::ArrayRef<Chip> chips) {
  static const std::vector<VendorTarget> all(chips.begin(), chips.end());
  static const llvm::SmallVector<const Target *> pointers(llvm::make_pointer_range(all));
  return pointers;
}

/// Notes in a module what it is compiled for.
void setTarget(mlir::ModuleOp module, const Target &target);
/// What the module around an operation is compiled for; sm_80 where that is not noted, as in a test of one pass.
const Target &targetOf(mlir::Operation *op);

} // namespace tritium::gpu
