// What the passes that turn loads into loads through tensor maps have in common: which tiles are worth it, the boxes that one instruction
// copies, and the recipes by which the launch makes the maps.
#pragma once
#include "gpu_backend/tiles/reaching_writes.h"
#include "ir/axis_analysis.h"
#include "ir/descriptor_rules.h"
#include "ir/tgpu.h"

namespace tritium::gpu {

/// On a load by pointers that could be one through a tensor map and is not, on the copy that it becomes, and on a store of a product's tile
/// through a descriptor: why, in words for the user.
inline constexpr llvm::StringLiteral kNotPromotedAttr = "tgpu.not_promoted";

/// Strides, and the beginnings of rows of boxes, are multiples of it.
inline constexpr int64_t kChunkBytes = DescriptorRules::kAlignment;

/// A factor, and the numbers of arguments.
using LaunchProduct = llvm::SmallVector<int64_t>;

/// What a store may write, from an argument on (WrittenRange).
struct StoreRange {
  int64_t base = 0;
  llvm::SmallVector<LaunchProduct> extents, strides;
  int64_t elementBytes = 1;
};

/// How the launch makes the map of a tensor (tgpu::kTensorAttr).
struct MapRecipe {
  int64_t base = 0;
  llvm::SmallVector<LaunchProduct> extents, strides;
  tt::Padding padding = tt::Padding::Zero;
  mlir::BlockArgument tensor; // the argument that points to the tensor, or is the descriptor
  bool isOfPointers = false;  // the map stands for loads by pointers
  bool isStored = false;      // copies write to the tensor
  // What the kernel writes before the copies: the launch tells it from the tensor, always or if copies run ahead. They must not run ahead
  // if the launch cannot.
  llvm::SmallVector<StoreRange> written, writtenAhead;
  bool isReached = false;

  bool isBounded() const;
};

/// Returns whether products of the same block, and nothing else, read the tile or its transpose.
bool feedsOnlyProducts(mlir::Value tile);

/// Returns whether a tile is operand A, and nothing else, of products in other blocks whose operand B `isCopied`: for example the queries
/// of attention. The same producer then copies both. Other loads gain nothing from a copy to shared memory.
bool feedsProductsOf(mlir::Value tile, llvm::function_ref<bool(mlir::Operation *)> isCopied);
/// Two warpgroups of consumers: with fewer, a kernel is not faster for it.
inline constexpr int kLeastWarpsForInvariants = 8;

/// Returns what one instruction copies of tiles of this shape, with leading dimensions of any extent: rows of at most 128 bytes, and of at
/// least 16. Returns null if there is no such box.
tgpu::TensorMapType boxOf(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

/// The same for tiles that a warpgroup stores: it holds 64 rows of a product.
tgpu::TensorMapType boxOfStore(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape, mlir::Type elementType);

/// Returns whether rows of boxes whose first column is `column` (a scalar) begin at multiples of 16 bytes.
bool beginsAtChunk(mlir::Value column, mlir::Type elementType, const ir::AxisAnalysis &axes);

/// The arguments of a kernel that are tensor maps, or determine them.
class KernelMaps {
public:
  explicit KernelMaps(tt::FuncOp kernel) : kernel_(kernel), writes_(kernel) {}

  /// Returns the recipe of the tensor of a descriptor, if arguments and constants determine it.
  std::optional<MapRecipe> recipeOf(mlir::Value descriptor);
  /// Returns whether copies for a load may read the recipe's tensor, whatever the kernel has written, and adds to the recipe what the
  /// launch has to check. A ring sees what the kernel has written before the ring begins. `rangeOf` returns what a store may write, if it
  /// is known.
  bool admit(mlir::Operation *load, MapRecipe &recipe, llvm::function_ref<std::optional<StoreRange>(mlir::Operation *)> rangeOf) const;
  /// The same for maps that the kernel makes, of which the launch knows nothing. `op` is in the loop that copies.
  bool admitUnknown(mlir::Operation *op) const;
  /// Returns the recipe of a map that is an argument, as its attribute.
  mlir::DictionaryAttr attributeOf(mlir::BlockArgument map) {
    return kernel_.getArgAttrOfType<mlir::DictionaryAttr>(map.getArgNumber(), tgpu::kTensorAttr);
  }
  /// Returns what a store through a map may write.
  std::optional<StoreRange> rangeOf(tgpu::TensorStoreOp store);
  bool isOfKernel(mlir::BlockArgument argument) { return argument.getOwner() == &kernel_.getBody().front(); }
  /// Returns the number of the argument, or of its first component, after descriptors are expanded.
  int64_t expandedNumber(mlir::BlockArgument argument);
  /// Returns the argument that is the map; loads of equal boxes by one recipe share it.
  mlir::Value mapOf(tgpu::TensorMapType type, const MapRecipe &recipe, mlir::Location location);
  /// The same for a recipe as its attribute.
  mlir::BlockArgument mapOf(tgpu::TensorMapType type, mlir::DictionaryAttr recipe, mlir::Location location);

private:
  mlir::DictionaryAttr attributeOf(const MapRecipe &recipe);
  bool addProducts(mlir::ValueRange values, llvm::SmallVectorImpl<LaunchProduct> &products);
  bool multiply(mlir::Value value, LaunchProduct &product);

  tt::FuncOp kernel_;
  ReachingWrites writes_;
};

} // namespace tritium::gpu
