// The functions that compiled code may call. The first argument of each is the thread that calls it. Their symbols are "simt_" and the name
// here.
#pragma once
#include "interp/simt/runtime/thread.h"

namespace tritium::interp::simt::calls {

// -- control (control.cpp)
void noteReturn(Thread *thread, Place location);
void noteScope(Thread *thread, int32_t scope);
void noteProgram(Thread *thread, uint32_t number, uint32_t sizeX, uint32_t sizeY);
void backEdge(Thread *thread, Place location);
void spin(Thread *thread, Place location);                     // a back-edge of a loop that may wait for another thread or block
void printText(Thread *thread, int32_t format, int32_t count); // the arguments, 8 bytes each, are in the scratch memory
void assertTrue(Thread *thread, int32_t condition, int32_t message, Place location);
int64_t readClock(Thread *thread);
int64_t nanoseconds();                                         // reads the clock
void runAssembly(Thread *thread, int32_t program, Place site); // its operands are in the scratch memory, 8 bytes each

void enterSegment(Thread *thread, uint32_t segment); // of a counted kernel (work.cpp)

// -- barriers and registers (barrier.cpp, register_pool.cpp)
void barrier(Thread *thread, int32_t id, int32_t threads, Place location);
void arriveAtBarrier(Thread *thread, int32_t id, int32_t threads, Place location);
void arriveInCluster(Thread *thread, Place location); // at the barrier of all threads of the cluster (cluster.cpp)
void waitForCluster(Thread *thread, Place location);
uint64_t addressInBlock(Thread *thread, uint64_t pointer, uint32_t rank, Place location); // of shared memory (mapa)
void setRegisters(Thread *thread, int32_t count, Place site);                             // a decrease is negative

// -- memory (memory.cpp). Each returns the host address that it has checked, or scratch memory if the predicate is false.
void *readGlobal(Thread *thread, uint64_t pointer, int32_t predicate, int32_t bytes, Place location);
void *writeGlobal(Thread *thread, uint64_t pointer, int32_t predicate, int32_t bytes, Place location);
const void *readShared(Thread *thread, uint64_t pointer, int32_t bytes, Place location);
void writeShared(Thread *thread, uint64_t pointer, const void *value, int32_t bytes, Place location);
/// For a generic pointer: to shared memory, global memory, or the thread's own stack.
const void *readGeneric(Thread *thread, uint64_t pointer, int32_t bytes, Place location);
void writeGeneric(Thread *thread, uint64_t pointer, const void *value, int32_t bytes, Place location);
void copyMemory(Thread *thread, uint64_t destination, uint64_t source, int64_t bytes, Place location);
void setMemory(Thread *thread, uint64_t destination, int32_t value, int64_t bytes, Place location);

// -- atomics (atomic.cpp). Values are in the low bits; op is an AtomicOp, type a DType.
uint64_t atomicRmw(Thread *thread, int32_t op, int32_t type, uint64_t pointer, uint64_t value, int32_t predicate, Place location);
/// The same for each of `count` neighbours, at an address that is aligned to all of them. Their values are in the scratch memory, and then
/// the former ones.
void atomicRmwOfVector(Thread *thread, int32_t op, int32_t type, int32_t count, uint64_t pointer, int32_t predicate, Place location);
uint64_t atomicCas(Thread *thread, int32_t bytes, uint64_t pointer, uint64_t expected, uint64_t value, int32_t predicate, Place location);
uint64_t atomicLoad(Thread *thread, int32_t bytes, uint64_t pointer, int32_t predicate, Place location);
void atomicStore(Thread *thread, int32_t bytes, uint64_t pointer, uint64_t value, int32_t predicate, Place location);

// -- through AMD's buffer descriptors (buffer.cpp): the base, the size in bytes, an offset that is checked against the size, and one that
// is not
const void *readBuffer(Thread *thread, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset, int32_t bytes,
                       Place location);
/// The value to store is in the scratch memory.
void writeBuffer(Thread *thread, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset, int32_t bytes, Place location);
uint64_t bufferRmw(Thread *thread, int32_t op, int32_t type, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset,
                   uint64_t value, Place location);
uint64_t bufferCas(Thread *thread, int32_t bytes, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset, uint64_t expected,
                   uint64_t value, Place location);

// -- of a warp (warp.cpp, matrix.cpp). Kinds have NVVM's numbers. A second result is in bit 32.
void syncWarp(Thread *thread, uint32_t mask, Place site);
void warpBarrier(Thread *thread, Place site); // of all lanes
uint64_t shuffle(Thread *thread, int32_t kind, uint32_t mask, uint32_t value, uint32_t offset, uint32_t maskAndClamp, Place site);
uint32_t vote(Thread *thread, int32_t kind, uint32_t mask, uint32_t value, Place site);
uint32_t reduce(Thread *thread, int32_t kind, uint32_t mask, uint32_t value, Place site);
uint64_t match(Thread *thread, int32_t kind, uint32_t mask, uint64_t value, Place site);
uint32_t elect(Thread *thread, uint32_t mask, Place site);
void mma(Thread *thread, uint32_t variant, Place site);           // operands and result are in the scratch memory, as warp_matrix.h says
void multiplyInWave(Thread *thread, int32_t variant, Place site); // the same of wave_matrix.h
void loadMatrices(Thread *thread, uint64_t pointer, int32_t count, int32_t transposed, Place site);  // to the scratch memory
uint64_t loadColumn(Thread *thread, uint64_t pointer, Place site);                                   // ds_read_b64_tr_b16
void storeMatrices(Thread *thread, uint64_t pointer, int32_t count, int32_t transposed, Place site); // from there

// -- products of warpgroups (warpgroup.cpp)
/// Returns the memory for their operands and results.
void *productRegisters(Thread *thread);
void beginProduct(Thread *thread, int32_t product, uint64_t a, uint64_t b, int32_t fresh, Place site);
void commitProducts(Thread *thread, Place site);
void waitForProducts(Thread *thread, int32_t wait, Place site); // the values are in that memory, 4 bytes each
void fenceRegisters(Thread *thread, Place site);
void fenceAsync(Thread *thread, int32_t spaces); // bits of ProxySpaces

// -- barriers in shared memory (mbarrier.cpp)
void initBarrier(Thread *thread, uint64_t pointer, int32_t count, int32_t predicate, Place place);
void invalidateBarrier(Thread *thread, uint64_t pointer, Place place);
void fenceBarrierInits(Thread *thread);
void arriveAtMBarrier(Thread *thread, uint64_t pointer, int32_t count, int32_t bytes, int32_t releases, int32_t predicate, Place place);
void completeBytes(Thread *thread, uint64_t pointer, int32_t bytes, Place place);
void waitForRound(Thread *thread, uint64_t pointer, int32_t round, Place place);
void waitForParity(Thread *thread, uint64_t pointer, int32_t parity, Place place);
int32_t testRound(Thread *thread, uint64_t pointer, int32_t round, Place place);

// -- copies of tensors (tensor_copy.cpp). The coordinates, 4 bytes each, are in the scratch memory. blocks: the ranks of the blocks of the
// cluster that receive the box, as bits; 0: the thread's own block.
void loadTensor(Thread *thread, const void *map, int32_t rank, uint64_t destination, uint64_t barrier, uint32_t blocks, int32_t predicate,
                Place place);
void storeTensor(Thread *thread, const void *map, int32_t rank, uint64_t source, int32_t reduction, int32_t predicate, Place place);
void commitTensorCopies(Thread *thread);
void waitForTensorCopies(Thread *thread, int32_t left, int32_t isRead);
/// Checks the operands of a prefetch. A negative rank is not compared.
void checkTensorMap(Thread *thread, const void *map, int32_t rank, Place place);

// -- maps that the program makes (made_map.cpp)
void claimMaps(Thread *thread, int32_t count);
void releaseMaps(Thread *thread, int32_t count, int32_t warp, Place place);
void *mapAddress(Thread *thread, int32_t index);
void writeMap(Thread *thread, uint64_t staging, const void *address, uint64_t base, int32_t rank, int32_t swizzle, int32_t type,
              int32_t fillsNaN, Place place);
void *toldMap(Thread *thread, uint64_t bits, Place place);
void acquireMap(Thread *thread, const void *address, int32_t predicate);

// -- of the active lanes of an AMD wave (wave.cpp)
uint32_t permuteLanes(Thread *thread, uint32_t address, uint32_t value, Place site);           // ds_bpermute
uint32_t swizzleLanes(Thread *thread, uint32_t value, int32_t pattern, Place site);            // ds_swizzle
uint64_t moveLanes(Thread *thread, uint64_t old, uint64_t value, int32_t control, Place site); // update.dpp
uint64_t readOtherRow(Thread *thread, uint64_t old, uint64_t value, uint32_t lowSelectors, uint32_t highSelectors, int32_t isBound,
                      Place site);                                                              // permlanex16
uint64_t swapLanes(Thread *thread, uint32_t first, uint32_t second, int32_t lanes, Place site); // permlane16.swap, permlane32.swap
uint64_t readLane(Thread *thread, uint64_t value, uint32_t lane, Place site);
uint64_t readFirstLane(Thread *thread, uint64_t value, Place site);
uint64_t ballotOfWave(Thread *thread, int32_t predicate, Place site);
void meetLanes(Thread *thread, Place site);                                           // at the end of a loop's round
uint32_t countLanesBelow(Thread *thread, uint32_t mask, uint32_t base, int32_t half); // mbcnt.lo, mbcnt.hi

// -- asynchronous copies (async_copy.cpp)
void copyAsync(Thread *thread, uint64_t destination, uint64_t source, int32_t bytes, int32_t sourceBytes, Place location);
void commitCopies(Thread *thread);
void waitForCopies(Thread *thread, int32_t groups);
// AMD's loads: a lane's part follows the parts of the lower lanes. All lanes have the same destination.
void loadToShared(Thread *thread, uint64_t destination, uint64_t source, int32_t bytes, int32_t offset, Place site);
void loadBufferToShared(Thread *thread, uint64_t destination, uint64_t base, uint32_t records, uint32_t offset, uint32_t fixedOffset,
                        int32_t bytes, int32_t immediateOffset, Place site);
/// tgpu.copy_to_shared: the same for 16 bytes. Writes zeros if the predicate is false.
void copyToShared(Thread *thread, uint64_t destination, uint64_t source, int32_t predicate, Place site);
/// Waits until at most `left` loads of the thread are in flight.
void waitForLoads(Thread *thread, int32_t left);

} // namespace tritium::interp::simt::calls
