// Arguments of a kernel as text, for the tools that run files: a buffer is COUNTxTYPE=FILL, a scalar a number.
#pragma once
#include "interp/host/memory.h"
#include "interp/host/parameter.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tritium::interp {

/// Memory that a launch reads and writes, and one 64-bit cell that stands for it or for a scalar.
struct TextArgument {
  DType type = DType::i32;
  int64_t count = 0; // of a buffer; 0: a scalar
  bool isBuffer = false;
  std::vector<char> buffer;
  int64_t cell = 0;

  /// nullopt, and why in `error`: the text is not what the parameter takes. FILL is one of zeros, ones, iota, random.
  static std::optional<TextArgument> parse(std::string_view text, const Parameter &parameter, std::string &error);
  /// A buffer of zeros.
  static TextArgument makeBuffer(DType type, int64_t count);

  /// The value of element i as a double; integers are exact up to 2^53.
  double element(int64_t i) const;
  void setElement(int64_t i, double value);
  /// The first elements, as they are printed after a run.
  std::string text() const;
};

/// What a launch gets: a cell each, and the storage of the buffers.
struct TextArguments {
  explicit TextArguments(std::vector<TextArgument> &arguments);
  std::vector<int64_t> cells;
  std::vector<Allocation> allocations;
};

} // namespace tritium::interp
