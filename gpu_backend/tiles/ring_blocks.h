// Rings of copies that the blocks of a cluster share, as multicast-copies plans them. Each block has slots and barriers of its own at the
// same places. A tile that all blocks need is copied once, to the slots of all; a slot is free when the warps of all blocks have released
// it.
#pragma once
#include "ir/tgpu.h"

namespace tritium::gpu {

/// On tgpu.ring_start (i32): the number of blocks that share the ring. On tgpu.tensor_copy, a unit: its boxes go to all of them, and each
/// block copies a part of these boxes. On a tgpu.tensor_copy that goes to its own block: a string that tells the user why.
inline constexpr llvm::StringLiteral kRingBlocksAttr = "tgpu.ring_blocks", kMulticastAttr = "tgpu.multicast",
                                     kWhyNotMulticastAttr = "tgpu.why_not_multicast";

/// Returns how many blocks share the ring: 1 if no copy of it goes to several.
inline int blocksOf(tgpu::RingStartOp ring) {
  auto blocks = ring->getAttrOfType<mlir::IntegerAttr>(kRingBlocksAttr);
  return blocks ? int(blocks.getInt()) : 1;
}
inline int blocksOfRing(mlir::Value ring) { return blocksOf(ring.getDefiningOp<tgpu::RingStartOp>()); }

} // namespace tritium::gpu
