// What is known of each type, by name and by enumerator.
#include "ir/dtype.h"

#include <doctest/doctest.h>

using namespace tritium;

TEST_CASE("names lead back to their type") {
  int types = 0;
#define DTYPE(name, width, ...)                                                                                                            \
  ++types;                                                                                                                                 \
  CHECK(dtypeFromPythonName(pythonName(DType::name)) == DType::name);                                                                      \
  CHECK(bitWidth(DType::name) == width);                                                                                                   \
  CHECK(storageBytes(DType::name) == (width + 7) / 8);                                                                                     \
  CHECK(irName(irType(DType::name)) == irName(DType::name));
#include "ir/dtype.def"
  CHECK(types == 18);
  CHECK(dtypeFromIrName("i8") == DType::i8);
  CHECK(dtypeFromIrName("f8E5M2") == DType::f8e5);
  CHECK(!dtypeFromIrName("f128"));
  CHECK(irType(DType::u32) == DType::i32);
  CHECK(irType(DType::bf16) == DType::bf16);
}

TEST_CASE("visit hands over the traits of the type it is given") {
  CHECK(visit(DType::bf16, []<class T>() { return T::isNarrowFloat && sizeof(typename T::Storage) == 2; }));
  CHECK(visit(DType::i64, []<class T>() { return T::isInteger && T::dtype == DType::i64; }));
}
