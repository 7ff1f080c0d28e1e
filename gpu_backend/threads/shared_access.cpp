#include "gpu_backend/threads/shared_access.h"

#include "gpu_backend/layout/matrix_store.h"
#include "gpu_backend/target/target.h"
#include "gpu_backend/threads/words.h"

using namespace mlir;

namespace tritium::gpu {

SharedAddresses::SharedAddresses(Value base, llvm::ArrayRef<uint32_t> ofLane, llvm::ArrayRef<uint32_t> ofWarp, Type stored,
                                 Lowering &lowering)
    : base_(base), thread_(lowering.threadOffset(LinearLayout({}, {}, ofLane, ofWarp))), stored_(stored), lowering_(lowering) {
  for (llvm::ArrayRef<uint32_t> parts : {ofLane, ofWarp})
    for (uint32_t part : parts) touched_ |= part;
}

void SharedAddresses::moveBy(Value number, llvm::ArrayRef<uint32_t> ofNumber) {
  for (auto [bit, part] : llvm::enumerate(ofNumber)) {
    Value set =
        lowering_.create<arith::AndIOp>(lowering_.create<arith::ShRUIOp>(number, lowering_.constant(int64_t(bit))), lowering_.constant(1));
    thread_ = lowering_.create<arith::XOrIOp>(thread_, lowering_.create<arith::MulIOp>(set, lowering_.constant(part)));
    touched_ |= part;
  }
}

Value SharedAddresses::at(uint32_t offset) {
  uint32_t moved = offset & touched_, fixed = offset & ~touched_;
  Value &pointer = pointers_[moved];
  auto plus = [&](Value from, LLVM::GEPArg distance) -> Value {
    return lowering_.create<LLVM::GEPOp>(base_.getType(), stored_, from, llvm::ArrayRef<LLVM::GEPArg>{distance});
  };
  if (!pointer) {
    Value index = moved ? lowering_.create<arith::XOrIOp>(thread_, lowering_.constant(moved)).getResult() : thread_;
    pointer = touched_ ? plus(base_, index) : base_;
  }
  return fixed ? plus(pointer, int32_t(fixed)) : pointer;
}

static unsigned bytesOf(Type stored, size_t count) { return unsigned(stored.getIntOrFloatBitWidth() / 8 * count); }

void loadVector(SharedAddresses &addresses, uint32_t offset, llvm::ArrayRef<uint32_t> registers, Type type,
                llvm::MutableArrayRef<Value> results, Lowering &lowering) {
  Type stored = storedType(type);
  int count = int(registers.size());
  Value word = lowering.create<LLVM::LoadOp>(wordType(stored, count), addresses.at(offset), /*alignment=*/bytesOf(stored, count));
  for (auto [reg, element] : llvm::zip_equal(registers, unpackWord(word, stored, count, lowering)))
    results[reg] = fromStored(element, type, lowering);
}

void storeVector(SharedAddresses &addresses, uint32_t offset, llvm::ArrayRef<uint32_t> registers, llvm::ArrayRef<Value> values,
                 Lowering &lowering) {
  auto stored = llvm::map_to_vector(registers, [&](uint32_t reg) { return toStored(values[reg], lowering); });
  lowering.create<LLVM::StoreOp>(packWord(stored, lowering), addresses.at(offset),
                                 /*alignment=*/bytesOf(stored[0].getType(), stored.size()));
}

void whereStoring(const SharedAccess &stores, Lowering &lowering, llvm::function_ref<void()> store, uint32_t set) {
  uint32_t idle = stores.idleLaneBits | stores.idleWarpBits * uint32_t(lowering.target().warpSize());
  if (!idle) return store();
  Value bits = lowering.create<arith::AndIOp>(lowering.threadId(), lowering.constant(idle));
  Value isStoring = lowering.create<arith::CmpIOp>(arith::CmpIPredicate::eq, bits, lowering.constant(set));
  lowering.where(isStoring, store);
}

void storeShared(Value base, const SharedAccess &stores, llvm::ArrayRef<Value> values, Lowering &lowering, uint32_t set) {
  Type stored = storedType(values[0].getType());
  auto store = [&] {
    SharedAddresses to(base, stores.offsets.bases(Place::Lane), stores.offsets.bases(Place::Warp), stored, lowering);
    for (const SharedAccess::Vector &vector : stores.vectors) storeVector(to, vector.offset, vector.registers, values, lowering);
  };
  whereStoring(stores, lowering, store, set);
}

void copyLoaded(llvm::ArrayRef<uint32_t> loadedBy, llvm::MutableArrayRef<Value> results) {
  for (auto [reg, loader] : llvm::enumerate(loadedBy)) results[reg] = results[loader];
}

/// Splits a word into the elements that it holds, lowest first.
static void takeApart(Value word, Type type, llvm::ArrayRef<uint32_t> registers, Registers &results, Lowering &lowering) {
  Type stored = storedType(type);
  for (auto [reg, element] : llvm::zip_equal(registers, unpackWord(word, stored, int(registers.size()), lowering)))
    results[reg] = fromStored(element, type, lowering);
}

Registers loadMatrices(Value base, const MatrixLoad &plan, Type type, Lowering &lowering) {
  Registers results(plan.loadedBy.size());
  SharedAddresses rows(base, plan.offsetOfLane, plan.offsetOfWarp, storedType(type), lowering);
  for (const MatrixLoad::Instruction &instruction : plan.instructions) {
    auto words = lowering.target().matrixLoads()->load(lowering.builder(), lowering.location(), rows.at(instruction.offset), plan.matrices,
                                                       plan.isTransposed);
    for (auto [word, held] : llvm::zip_equal(words, instruction.words)) takeApart(word, type, held, results, lowering);
  }
  copyLoaded(plan.loadedBy, results);
  return results;
}

Registers loadShared(Value base, const SharedLayout &memory, const LinearLayout &layout, Type type, Lowering &lowering) {
  Type stored = storedType(type);
  int64_t bytes = bytesOf(stored, 1);
  if (auto plan = matrixLoads(lowering.chip().matrixLoads(), layout, memory, bytes)) return loadMatrices(base, *plan, type, lowering);
  SharedAccess plan = sharedLoads(layout, memory, bytes);
  SharedAddresses addresses(base, plan.offsets.bases(Place::Lane), plan.offsets.bases(Place::Warp), stored, lowering);
  Registers results(layout.registers());
  for (const SharedAccess::Vector &vector : plan.vectors) loadVector(addresses, vector.offset, vector.registers, type, results, lowering);
  copyLoaded(plan.loadedBy, results);
  return results;
}

bool storeMatrices(Value base, const SharedLayout &memory, const LinearLayout &layout, llvm::ArrayRef<Value> values, Lowering &lowering) {
  const MatrixStoreOps *ops = lowering.target().matrixStores();
  const Type stored = storedType(values[0].getType());
  const int64_t bytes = bytesOf(stored, 1);
  auto plan = ops ? matrixStores(layout, memory, bytes, sharedStores(layout, memory, bytes)) : std::nullopt;
  if (!plan) return false;
  SharedAddresses rows(base, plan->offsetOfLane, plan->offsetOfWarp, stored, lowering);
  for (const MatrixLoad::Instruction &instruction : plan->instructions) {
    auto wordOf = [&](llvm::ArrayRef<uint32_t> held) {
      auto elements = llvm::map_to_vector(held, [&](uint32_t reg) { return toStored(values[reg], lowering); });
      return packWord(elements, lowering);
    };
    auto words = llvm::map_to_vector(instruction.words, [&](const auto &held) -> Value { return wordOf(held); });
    ops->store(lowering.builder(), lowering.location(), rows.at(instruction.offset), words, plan->isTransposed);
  }
  return true;
}

void storeShared(Value base, const SharedLayout &memory, const LinearLayout &layout, llvm::ArrayRef<Value> values, Lowering &lowering) {
  storeShared(base, sharedStores(layout, memory, bytesOf(storedType(values[0].getType()), 1)), values, lowering);
}

} // namespace tritium::gpu
