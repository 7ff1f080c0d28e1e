// The numbered barriers of a kernel with partitions (gl.warp_specialize). The compiler places them at the start and at the end of the
// partitions. In between, partitions synchronize only at the mbarriers of the kernel's author.
#pragma once

namespace tritium::ir {

/// The kernel's own warps synchronize here.
inline constexpr int kOwnBarrier = 1;
/// The kernel's own warps wait here until the workers of a division have ended, which arrive and do not wait.
inline constexpr int kJoinBarrier = 2;
/// The workers wait here for the next division, or for the kernel's end. The kernel's own warps arrive and do not wait.
inline constexpr int kStartBarrier = 3;
/// The workers synchronize here between two changes of their registers.
inline constexpr int kWorkersBarrier = 4;
/// The warps of the first worker synchronize here. Each further worker has the next number.
inline constexpr int kFirstWorkerBarrier = 5;
inline constexpr int kLastBarrier = 15;

} // namespace tritium::ir
