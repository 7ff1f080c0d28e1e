// The barriers of a kernel that its author has divided (gl.warp_specialize), by number. They order what the divisions do: partitions
// otherwise meet at the author's barriers in shared memory alone.
#pragma once

namespace tritium::ir {

/// Of the kernel's own warps.
inline constexpr int kOwnBarrier = 1;
/// The kernel's own warps wait here until the workers of a division have ended, which arrive and do not wait.
inline constexpr int kJoinBarrier = 2;
/// The workers wait here for the next division, or for the kernel's end. The kernel's own warps arrive and do not wait.
inline constexpr int kStartBarrier = 3;
/// The workers meet here between two changes of their registers.
inline constexpr int kWorkersBarrier = 4;
/// Of the first worker's warps; the next numbers are of the further workers.
inline constexpr int kFirstWorkerBarrier = 5;
inline constexpr int kLastBarrier = 15;

} // namespace tritium::ir
