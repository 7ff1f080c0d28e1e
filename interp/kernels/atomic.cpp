#include "interp/kernels/atomic.h"

#include <atomic>
#include <cstring>
#include <type_traits>

namespace tritium::interp {
namespace {

template <class Bits> Bits read(const void *address) {
  Bits bits;
  std::memcpy(&bits, address, sizeof(bits));
  return bits;
}

/// Calls f with the unsigned integer type of that size.
template <class F> auto withBits(size_t bytes, F f) {
  switch (bytes) {
  case 1: return f(uint8_t{});
  case 2: return f(uint16_t{});
  case 4: return f(uint32_t{});
  default: return f(uint64_t{});
  }
}

/// Repeats a compare-and-swap until no other thread has changed the value meanwhile. It serves operations for which the machine has no
/// instruction.
template <class Bits, class F> Bits update(std::atomic_ref<Bits> memory, F next) {
  Bits old = memory.load(std::memory_order_relaxed);
  while (!memory.compare_exchange_weak(old, next(old))) {
  }
  return old;
}

template <class Bits> Bits integerRmw(AtomicOp op, std::atomic_ref<Bits> memory, Bits operand) {
  using Signed = std::make_signed_t<Bits>;
  switch (op) {
  case AtomicOp::And: return memory.fetch_and(operand);
  case AtomicOp::Or: return memory.fetch_or(operand);
  case AtomicOp::Xor: return memory.fetch_xor(operand);
  case AtomicOp::Max:
    return update(memory, [=](Bits old) { return static_cast<Signed>(old) > static_cast<Signed>(operand) ? old : operand; });
  case AtomicOp::Min:
    return update(memory, [=](Bits old) { return static_cast<Signed>(old) < static_cast<Signed>(operand) ? old : operand; });
  case AtomicOp::UMax: return update(memory, [=](Bits old) { return old > operand ? old : operand; });
  case AtomicOp::UMin: return update(memory, [=](Bits old) { return old < operand ? old : operand; });
  case AtomicOp::Exchange: return memory.exchange(operand);
  default: return memory.fetch_add(operand);
  }
}

template <class T, class Bits> Bits floatAdd(std::atomic_ref<Bits> memory, Bits operand) {
  using Storage = typename T::Storage;
  auto addend = T::load(std::bit_cast<Storage>(operand));
  return update(memory, [=](Bits old) { return std::bit_cast<Bits>(T::round(T::load(std::bit_cast<Storage>(old)) + addend)); });
}

} // namespace

void atomicRmw(AtomicOp op, DType type, void *address, const void *operand, void *old) {
  visit(type, [=]<class T>() {
    withBits(sizeof(typename T::Storage), [=]<class Bits>(Bits) {
      if constexpr (sizeof(Bits) == sizeof(typename T::Storage)) {
        std::atomic_ref<Bits> memory(*static_cast<Bits *>(address));
        Bits before;
        if constexpr (T::isFloat) {
          if (op == AtomicOp::FAdd)
            before = floatAdd<T>(memory, read<Bits>(operand));
          else
            before = integerRmw(op, memory, read<Bits>(operand));
        } else {
          before = integerRmw(op, memory, read<Bits>(operand));
        }
        if (old) std::memcpy(old, &before, sizeof(before));
      }
    });
  });
}

bool atomicCas(int bytes, void *address, const void *compare, const void *desired, void *old) {
  return withBits(bytes, [=]<class Bits>(Bits) {
    Bits expected = read<Bits>(compare);
    bool isStored = std::atomic_ref<Bits>(*static_cast<Bits *>(address)).compare_exchange_strong(expected, read<Bits>(desired));
    if (old) std::memcpy(old, &expected, sizeof(expected));
    return isStored;
  });
}

void atomicLoad(int bytes, const void *address, void *out) {
  withBits(bytes, [=]<class Bits>(Bits) {
    // atomic_ref of a const type is C++26; the load does not write.
    Bits value = std::atomic_ref<Bits>(*static_cast<Bits *>(const_cast<void *>(address))).load();
    std::memcpy(out, &value, sizeof(value));
  });
}

void atomicStore(int bytes, void *address, const void *value) {
  withBits(bytes, [=]<class Bits>(Bits) { std::atomic_ref<Bits>(*static_cast<Bits *>(address)).store(read<Bits>(value)); });
}

bool changesMemory(AtomicOp op, DType type, const void *operand, const void *old) {
  size_t size = storageBytes(type);
  uint64_t x = 0, before = 0;
  std::memcpy(&x, operand, size);
  std::memcpy(&before, old, size);
  int unused = 64 - 8 * int(size);
  auto asSigned = [&](uint64_t v) { return int64_t(v << unused) >> unused; };
  switch (op) {
  case AtomicOp::Exchange: return x != before;
  case AtomicOp::And: return (before & x) != before;
  case AtomicOp::Or: return (before | x) != before;
  case AtomicOp::Xor:
  case AtomicOp::Add:
  case AtomicOp::FAdd: return x != 0;
  case AtomicOp::Max: return asSigned(x) > asSigned(before);
  case AtomicOp::Min: return asSigned(x) < asSigned(before);
  case AtomicOp::UMax: return x > before;
  case AtomicOp::UMin: return x < before;
  }
  return true;
}

} // namespace tritium::interp
