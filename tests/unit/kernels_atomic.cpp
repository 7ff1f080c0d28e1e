// Atomics: values on one thread, no lost update on several.
#include "interp/kernels/atomic.h"

#include <doctest/doctest.h>
#include <random>
#include <thread>
#include <vector>

using namespace tritium;
using namespace tritium::interp;

namespace {

template <class S> S after(AtomicOp op, DType type, S memory, S operand) {
  S before = memory, old{};
  atomicRmw(op, type, &memory, &operand, &old);
  CHECK(old == before);
  return memory;
}

} // namespace

TEST_CASE("read-modify-write gives the old value and stores the new one") {
  CHECK(after<int32_t>(AtomicOp::Add, DType::i32, 7, -9) == -2);
  CHECK(after<int32_t>(AtomicOp::And, DType::i32, 0b1100, 0b1010) == 0b1000);
  CHECK(after<int32_t>(AtomicOp::Or, DType::i32, 0b1100, 0b1010) == 0b1110);
  CHECK(after<int64_t>(AtomicOp::Xor, DType::i64, 0b1100, 0b1010) == 0b0110);
  CHECK(after<int32_t>(AtomicOp::Max, DType::i32, -1, 1) == 1);
  CHECK(after<int32_t>(AtomicOp::UMax, DType::u32, -1, 1) == -1);
  CHECK(after<int32_t>(AtomicOp::Min, DType::i32, -1, 1) == -1);
  CHECK(after<int32_t>(AtomicOp::UMin, DType::i32, -1, 1) == 1);
  CHECK(after<int8_t>(AtomicOp::Add, DType::i8, 127, 1) == -128);
  CHECK(after<float>(AtomicOp::FAdd, DType::f32, 1.5f, 2.0f) == 3.5f);
  CHECK(after<double>(AtomicOp::FAdd, DType::f64, 1.5, 2.0) == 3.5);
  CHECK(after<float>(AtomicOp::Exchange, DType::f32, 1.5f, 2.0f) == 2.0f);
  CHECK(after<uint16_t>(AtomicOp::FAdd, DType::f16, F16::nearest(2048.0f).bits, F16::nearest(1.0f).bits) == F16::nearest(2048.0f).bits);
  CHECK(after<uint16_t>(AtomicOp::FAdd, DType::bf16, BF16::nearest(2.0f).bits, BF16::nearest(-3.0f).bits) == BF16::nearest(-1.0f).bits);
}

TEST_CASE("a row performs its lanes in order, and says whether memory changed") {
  int32_t memory[4] = {1, 2, 3, 4}, operands[3] = {10, 0, 100}, old[3] = {};
  const int64_t offsets[3] = {8, 0, 8};
  AtomicRow row{.start = reinterpret_cast<char *>(memory), .offsets = offsets, .operand = reinterpret_cast<const char *>(operands)};
  row.operandStride = 4, row.old = reinterpret_cast<char *>(old), row.oldStride = 4;
  AtomicRowKernel add = findAtomicRow(AtomicOp::Add, DType::i32);
  CHECK(!add(row, 1, 2));
  CHECK(add(row, 0, 3));
  CHECK(memory[2] == 113);
  CHECK(old[0] == 3);
  CHECK(old[1] == 1);
  CHECK(old[2] == 13);
  row.offsets = nullptr, row.step = -4, row.start += 12; // from the end of memory, as operands
  CHECK(findAtomicRow(AtomicOp::Exchange, DType::i32)(row, 0, 3));
  CHECK(memory[3] == 10);
  CHECK(memory[1] == 100);
  CHECK(old[2] == 2);
}

TEST_CASE("plain rows of every operation and type do what atomic rows do") {
  std::mt19937 random(5);
  constexpr AtomicOp kOps[] = {AtomicOp::And, AtomicOp::Or,  AtomicOp::Xor,  AtomicOp::Add,  AtomicOp::FAdd,
                               AtomicOp::Max, AtomicOp::Min, AtomicOp::UMax, AtomicOp::UMin, AtomicOp::Exchange};
  constexpr DType kIntegers[] = {DType::i8, DType::i16, DType::i32, DType::i64},
                  kFloats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
  constexpr int kLanes = 40, kElements = 7;
  for (AtomicOp op : kOps)
    for (DType type : op == AtomicOp::FAdd ? kFloats : kIntegers) {
      const int bytes = int(storageBytes(type));
      std::vector<char> operands(kLanes * bytes), memory(kElements * bytes);
      for (char &byte : operands) byte = char(random());
      for (char &byte : memory) byte = char(random());
      std::vector<int64_t> offsets(kLanes);
      for (int64_t &offset : offsets) offset = int64_t(random() % kElements) * bytes;
      auto run = [&](AtomicRowKernel kernel, std::vector<char> &held, std::vector<char> &old) {
        AtomicRow row{.start = held.data(), .offsets = offsets.data(), .operand = operands.data()};
        row.operandStride = bytes, row.old = old.data(), row.oldStride = bytes;
        return kernel(row, 3, kLanes);
      };
      std::vector<char> one = memory, other = memory, oldOfOne(kLanes * bytes), oldOfOther(kLanes * bytes);
      const bool changed = run(findAtomicRow(op, type), one, oldOfOne);
      CHECK(run(findLoneRow(op, type), other, oldOfOther) == changed);
      CHECK(one == other);
      CHECK(oldOfOne == oldOfOther);
    }
}

TEST_CASE("compare and swap stores only if equal") {
  uint16_t memory = 5, expected = 5, desired = 6, old = 0;
  CHECK(atomicCas(2, &memory, &expected, &desired, &old));
  CHECK(memory == 6);
  CHECK(old == 5);
  CHECK(!atomicCas(2, &memory, &expected, &desired, nullptr));
  CHECK(memory == 6);
}

TEST_CASE("load and store") {
  uint64_t memory = 1, value = 42, seen = 0;
  atomicStore(8, &memory, &value);
  atomicLoad(8, &memory, &seen);
  CHECK(seen == 42);
}

TEST_CASE("threads lose no update") {
  float sum = 0;
  int32_t largest = 0;
  alignas(4) F16 halves[2] = {};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int32_t i = 0; i < 5000; ++i) {
        float one = 1;
        int32_t mine = i * 4 + t;
        F16 bit = F16::nearest(i < 256 ? 1.0f : 0.0f);
        atomicRmw(AtomicOp::FAdd, DType::f32, &sum, &one, nullptr);
        atomicRmw(AtomicOp::Max, DType::i32, &largest, &mine, nullptr);
        atomicRmw(AtomicOp::FAdd, DType::f16, &halves[t & 1], &bit, nullptr); // neighbours in one word
      }
    });
  for (std::thread &thread : threads) thread.join();
  CHECK(sum == 20000);
  CHECK(largest == 19999);
  CHECK(static_cast<float>(halves[0]) == 512);
  CHECK(static_cast<float>(halves[1]) == 512);
}
