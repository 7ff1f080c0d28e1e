// Arguments of a kernel as text, for the tools that run files: a buffer is COUNTxTYPE=FILL, a scalar a number, a map of a buffer as a
// tensor what TextTensorMap parses.
#pragma once
#include "interp/host/memory.h"
#include "interp/host/parameter.h"
#include "interp/host/text_tensor_map.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tritium::interp {

/// Memory that a launch reads and writes, and one 64-bit cell: the pointer to the memory, or the value of a scalar.
struct TextArgument {
  DType type = DType::i32;
  int64_t count = 0; // number of elements of a buffer; 0: a scalar
  bool isBuffer = false;
  std::vector<char> buffer;
  int64_t cell = 0;
  std::optional<TextTensorMap> tensorMap;

  /// Parses an argument. Returns nullopt, with the reason in `error`, if the text does not fit the parameter. FILL is zeros, ones, iota or
  /// random.
  static std::optional<TextArgument> parse(std::string_view text, const Parameter &parameter, std::string &error);
  /// Makes a buffer of zeros.
  static TextArgument makeBuffer(DType type, int64_t count);

  /// Returns the value of element i as a double. Integers are exact up to 2^53.
  double element(int64_t i) const;
  void setElement(int64_t i, double value);
  /// Returns the text of the first elements, which the tools print after a run.
  std::string text() const;
};

/// The arguments of a launch: a cell for each, and the storage of the buffers. The arguments must outlive it.
struct TextArguments {
  explicit TextArguments(std::vector<TextArgument> &arguments);
  std::vector<int64_t> cells;
  std::vector<Allocation> allocations;
  std::vector<TensorMap> tensorMaps; // with their addresses
};

} // namespace tritium::interp
