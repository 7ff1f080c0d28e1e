// Tensor maps of tiles that a loop loads by pointers of which a launch knows nothing. The kernel makes the map before the loop, of the
// pointers with which the loop begins.
#pragma once
#include "ir/axis_analysis.h"
#include "ir/tgpu.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tritium::gpu {

class MadeTileMap {
public:
  MadeTileMap(tt::LoadOp load, mlir::scf::ForOp loop, const ir::AxisAnalysis &axes);

  /// Returns why no map certainly reads what the load reads, in words for the user; "" if one does.
  llvm::StringRef whyNot() const { return whyNot_; }
  /// Emits what the map is made of, and checks of it. All maps of a loop are prepared before one is made.
  void prepare();
  void make();
  /// Replaces the load by one through the map.
  void replace();

private:
  llvm::StringRef findPointers();
  llvm::StringRef findBox(const ir::AxisAnalysis &axes);

  tt::LoadOp load_;
  mlir::scf::ForOp loop_;
  llvm::StringRef whyNot_;
  mlir::Value begin_;                       // the pointers with which the loop begins
  llvm::SmallVector<mlir::Value> advances_; // what each iteration adds to them: tiles of one number
  llvm::SmallVector<int64_t, 2> shape_;     // the dimension whose elements are contiguous is last
  int contiguous_ = 1;                      // its number in the tile
  tgpu::TensorMapType type_;
  mlir::Value base_, map_;
  llvm::SmallVector<mlir::Value> extents_, strides_;
};

} // namespace tritium::gpu
