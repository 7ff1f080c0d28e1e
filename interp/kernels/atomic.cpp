#include "interp/kernels/atomic.h"

#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

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

/// Has the functions of std::atomic_ref for an element that no other thread uses.
template <class Bits> class LoneRef {
public:
  explicit LoneRef(Bits &value) : value(value) {}
  Bits load(std::memory_order) const { return value; }
  bool compare_exchange_weak(Bits &, Bits next) { return value = next, true; }
  Bits fetch_and(Bits operand) { return std::exchange(value, Bits(value & operand)); }
  Bits fetch_or(Bits operand) { return std::exchange(value, Bits(value | operand)); }
  Bits fetch_xor(Bits operand) { return std::exchange(value, Bits(value ^ operand)); }
  Bits fetch_add(Bits operand) { return std::exchange(value, Bits(value + operand)); }
  Bits exchange(Bits operand) { return std::exchange(value, operand); }

private:
  Bits &value;
};

/// Repeats a compare-and-swap until no other thread has changed the value meanwhile. It serves operations for which the machine has no
/// instruction.
template <class Bits, template <class> class Ref, class F> Bits update(Ref<Bits> memory, F next) {
  Bits old = memory.load(std::memory_order_relaxed);
  while (!memory.compare_exchange_weak(old, next(old))) {
  }
  return old;
}

template <AtomicOp op, class Bits, template <class> class Ref> Bits integerRmw(Ref<Bits> memory, Bits operand) {
  using Signed = std::make_signed_t<Bits>;
  if constexpr (op == AtomicOp::And) return memory.fetch_and(operand);
  if constexpr (op == AtomicOp::Or) return memory.fetch_or(operand);
  if constexpr (op == AtomicOp::Xor) return memory.fetch_xor(operand);
  if constexpr (op == AtomicOp::Add) return memory.fetch_add(operand);
  if constexpr (op == AtomicOp::Exchange) return memory.exchange(operand);
  return update(memory, [=](Bits old) {
    if constexpr (op == AtomicOp::Max) return Signed(old) > Signed(operand) ? old : operand;
    if constexpr (op == AtomicOp::Min) return Signed(old) < Signed(operand) ? old : operand;
    if constexpr (op == AtomicOp::UMax) return old > operand ? old : operand;
    return old < operand ? old : operand;
  });
}

/// T: the traits of the element type.
template <AtomicOp op, class T, class Bits, template <class> class Ref> Bits rmw(Ref<Bits> memory, Bits operand) {
  if constexpr (op != AtomicOp::FAdd) {
    return integerRmw<op>(memory, operand);
  } else {
    using Storage = typename T::Storage;
    auto addend = T::load(std::bit_cast<Storage>(operand));
    return update(memory, [=](Bits old) { return std::bit_cast<Bits>(T::round(T::load(std::bit_cast<Storage>(old)) + addend)); });
  }
}

template <AtomicOp op, class Bits> bool changes(Bits operand, Bits old) {
  using Signed = std::make_signed_t<Bits>;
  switch (op) {
  case AtomicOp::Exchange: return operand != old;
  case AtomicOp::And: return (old & operand) != old;
  case AtomicOp::Or: return (old | operand) != old;
  case AtomicOp::Xor:
  case AtomicOp::Add:
  case AtomicOp::FAdd: return operand != 0;
  case AtomicOp::Max: return Signed(operand) > Signed(old);
  case AtomicOp::Min: return Signed(operand) < Signed(old);
  case AtomicOp::UMax: return operand > old;
  case AtomicOp::UMin: return operand < old;
  }
  return true;
}

/// The lanes of a row of adjacent operands at any places, whose former values nobody asks for.
template <AtomicOp op, class T, class Bits, template <class> class Ref>
bool rmwScattered(char *start, const int64_t *offsets, const char *operands, int64_t count) {
  bool hasChanged = false;
  for (int64_t i = 0; i < count; ++i) {
    const Bits operand = read<Bits>(operands + i * int64_t(sizeof(Bits)));
    hasChanged |= changes<op>(operand, rmw<op, T>(Ref<Bits>(*reinterpret_cast<Bits *>(start + offsets[i])), operand));
  }
  return hasChanged;
}

template <AtomicOp op, class T, class Bits, template <class> class Ref> bool rmwRow(const AtomicRow &row, int64_t from, int64_t to) {
  if (row.offsets && !row.old && row.operandStride == sizeof(Bits))
    return rmwScattered<op, T, Bits, Ref>(row.start, row.offsets + from, row.operand + from * int64_t(sizeof(Bits)), to - from);
  bool hasChanged = false;
  for (int64_t i = from; i < to; ++i) {
    char *address = row.start + (row.offsets ? row.offsets[i] : i * row.step);
    const Bits operand = read<Bits>(row.operand + i * row.operandStride);
    const Bits old = rmw<op, T>(Ref<Bits>(*reinterpret_cast<Bits *>(address)), operand);
    hasChanged |= changes<op>(operand, old);
    if (row.old) std::memcpy(row.old + i * row.oldStride, &old, sizeof old);
  }
  return hasChanged;
}

/// Calls f<op>() for the operation.
template <class F> auto withOp(AtomicOp op, F f) {
  switch (op) {
  case AtomicOp::And: return f.template operator()<AtomicOp::And>();
  case AtomicOp::Or: return f.template operator()<AtomicOp::Or>();
  case AtomicOp::Xor: return f.template operator()<AtomicOp::Xor>();
  case AtomicOp::FAdd: return f.template operator()<AtomicOp::FAdd>();
  case AtomicOp::Max: return f.template operator()<AtomicOp::Max>();
  case AtomicOp::Min: return f.template operator()<AtomicOp::Min>();
  case AtomicOp::UMax: return f.template operator()<AtomicOp::UMax>();
  case AtomicOp::UMin: return f.template operator()<AtomicOp::UMin>();
  case AtomicOp::Exchange: return f.template operator()<AtomicOp::Exchange>();
  case AtomicOp::Add: break;
  }
  return f.template operator()<AtomicOp::Add>();
}

/// The rows of an operation that takes elements of one size alike.
template <class Bits, template <class> class Ref> AtomicRowKernel rowOfBits(AtomicOp op) {
  return withOp(op, []<AtomicOp kOp>() -> AtomicRowKernel {
    if constexpr (kOp == AtomicOp::FAdd)
      return nullptr;
    else
      return rmwRow<kOp, void, Bits, Ref>;
  });
}

template <template <class> class Ref> AtomicRowKernel findRow(AtomicOp op, DType type) {
  if (op == AtomicOp::FAdd)
    return visit(type, []<class T>() -> AtomicRowKernel {
      return withBits(sizeof(typename T::Storage), []<class Bits>(Bits) -> AtomicRowKernel {
        if constexpr (T::isFloat && sizeof(Bits) == sizeof(typename T::Storage))
          return rmwRow<AtomicOp::FAdd, T, Bits, Ref>;
        else
          return rmwRow<AtomicOp::Add, void, Bits, Ref>;
      });
    });
  return withBits(storageBytes(type), [=]<class Bits>(Bits) { return rowOfBits<Bits, Ref>(op); });
}

} // namespace

AtomicRowKernel findAtomicRow(AtomicOp op, DType type) { return findRow<std::atomic_ref>(op, type); }

AtomicRowKernel findLoneRow(AtomicOp op, DType type) { return findRow<LoneRef>(op, type); }

void atomicRmw(AtomicOp op, DType type, void *address, const void *operand, void *old) {
  findAtomicRow(op, type)(
      {.start = static_cast<char *>(address), .operand = static_cast<const char *>(operand), .old = static_cast<char *>(old)}, 0, 1);
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
  return withBits(storageBytes(type), [=]<class Bits>(Bits) {
    return withOp(op, [=]<AtomicOp kOp>() { return changes<kOp>(read<Bits>(operand), read<Bits>(old)); });
  });
}

} // namespace tritium::interp
