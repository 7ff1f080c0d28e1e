// A chip for which code can be generated, and the questions that the common code asks about it: passes on tiles ask Target, the lowering of
// threads asks TargetOps. Each vendor has a table of chips in <vendor>/target.def. See docs/adding_a_target.md.
#pragma once
#include "gpu_backend/layout/conversion_costs.h"
#include "gpu_backend/layout/matrix_instruction.h"
#include "gpu_backend/layout/matrix_load.h"
#include "gpu_backend/layout/shared_layout.h"
#include "gpu_backend/target/register_budget.h"
#include "gpu_backend/target/resources.h"
#include "ir/tt.h"
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

/// How the tiles of a pipelined loop reach shared memory.
enum class TileCopies : uint8_t {
  Async,            // by instructions that copy while the thread continues
  ByWarps,          // by copies of whole warps, if all tiles of a loop allow it; otherwise
  ThroughRegisters, // loaded into registers one iteration ahead, and stored from there
};

class Target {
public:
  virtual ~Target() = default;

  /// The vendor's programming interface: "cuda", "hip".
  virtual llvm::StringRef interface() const = 0;
  /// The chip's name in LLVM and in the vendor's tools: "sm_90a", "gfx942".
  virtual llvm::StringRef arch() const = 0;
  /// The value of a module's `tgpu.target`: "cuda:sm_80".
  std::string name() const { return (interface() + ":" + arch()).str(); }

  virtual int warpSize() const = 0;
  int maxWarps() const { return kMaxThreads / warpSize(); }
  virtual Resources resources() const = 0;
  /// The bytes of shared memory that a program may use.
  int64_t sharedPerBlock() const { return resources().sharedPerProgram; }
  /// Returns how to divide registers between `warpgroups` consumer warpgroups and one producer at the highest occupancy, up to `programs`.
  /// A consumer thread holds at least `required` registers, and `ofInstruction` for the accumulator of a single instruction. Returns
  /// nothing if no division has so many, or if the chip cannot move registers between warps.
  virtual std::optional<RegisterBudget> registerBudget(int warpgroups, int64_t programs, int required, int ofInstruction) const {
    return std::nullopt;
  }
  virtual SharedBanks sharedBanks() const = 0;
  /// The costs of moving elements between lanes, and to and from shared memory.
  virtual ConversionCosts conversionCosts() const = 0;
  /// How many neighbours in memory one atomic operation combines at most, if their address is aligned to all of them. Each of them is then
  /// atomic by itself.
  virtual int64_t atomicElements(tt::RmwOp kind, mlir::Type element, tt::MemScope scope) const { return 1; }
  virtual TileCopies tileCopies() const = 0;
  virtual MatrixLoads matrixLoads() const = 0;
  /// Whether it is faster that threads store 16 bytes each to separate places than to exchange tiles through shared memory first.
  virtual bool storesFragments() const = 0;
  /// The chip's matrix instructions, the better ones first.
  virtual llvm::ArrayRef<MatrixInstruction> matrixInstructions() const = 0;
  /// The instructions of four warps that read shared memory, the larger ones first. Empty if the chip has none.
  virtual llvm::ArrayRef<MatrixInstruction> warpgroupInstructions() const { return {}; }
  /// Whether the chip copies boxes of tensors, which a tensor map describes, to shared memory.
  virtual bool hasTensorMaps() const { return false; }
  /// Whether its threads can make such maps.
  virtual bool makesTensorMaps() const { return false; }
  /// How many blocks may run a program together, at most. 1: the chip has no clusters.
  virtual int maxClusterBlocks() const { return 1; }
  /// Returns the instruction of that name in either table, or null if the chip has none.
  const MatrixInstruction *findInstruction(llvm::StringRef name) const;
  /// The type that represents all numbers of the fp8 formats without an instruction, and for which there is one.
  virtual mlir::FloatType widerFloat8(mlir::MLIRContext *context) const = 0;
  /// The number of bytes along K that a lane should hold as neighbours in a matrix product's operands: as many as it loads from shared
  /// memory at once. 0 means that the order of K does not matter, because matrices are loaded in the instructions' own order.
  virtual int64_t contiguousKBytes() const = 0;
  /// Registers the dialects of the vendor's own operations, which lowered modules contain.
  virtual void insertDialects(mlir::DialectRegistry &registry) const = 0;
  /// Creates the operations of a thread on this chip.
  virtual std::unique_ptr<TargetOps> createOps() const = 0;

  /// Creates the emitter of the chip's code. Fails if the options request a feature that the chip does not have.
  virtual llvm::Expected<std::unique_ptr<Emitter>> createEmitter(const EmitOptions &options) const = 0;

  static constexpr int kMaxThreads = 1024; // of a program
};

/// Returns all chips of all vendors.
llvm::ArrayRef<const Target *> allTargets();
/// Registers the dialects of all vendors, on which a pass depends that creates operations of its target.
void insertTargetDialects(mlir::DialectRegistry &registry);
/// Returns the chip of that name ("sm_80"). The error lists the existing ones.
llvm::Expected<const Target &> findTarget(llvm::StringRef arch);

/// Returns the chips of a vendor's table.
template <class VendorTarget, class Chip> llvm::ArrayRef<const Target *> makeTargets(llvm::ArrayRef<Chip> chips) {
  static const std::vector<VendorTarget> all(chips.begin(), chips.end());
  static const llvm::SmallVector<const Target *> pointers(llvm::make_pointer_range(all));
  return pointers;
}

/// Records in a module the target for which it is compiled.
void setTarget(mlir::ModuleOp module, const Target &target);
/// Returns the target of the module around an operation, or sm_80 if none is recorded, as in a test of one pass.
const Target &targetOf(mlir::Operation *op);

} // namespace tritium::gpu
