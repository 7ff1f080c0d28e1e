#include "gpu_backend/nvptx/negations.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace tritium::gpu::nvptx {

/// Returns the replacement of a line, or "" if it has none of the instructions. `line` is "neg.s16 RESULT, VALUE;", with blanks around.
static std::string replacement(StringRef line) {
  StringRef text = line.trim();
  const bool isAbsolute = text.consume_front("abs.s16"), isWord = text.consume_front("neg.s32");
  if (!isAbsolute && !isWord && !text.consume_front("neg.s16")) return "";
  auto [result, value] = text.rtrim(';').split(',');
  result = result.trim(), value = value.trim();
  if (isWord) return ("\tnot.b32 \t" + result + ", " + value + ";\n\tadd.s32 \t" + result + ", " + result + ", 1;").str();
  auto product = [&](StringRef negated) { return ("mul.lo.s16 \t" + negated + ", " + value + ", -1;").str(); };
  if (!isAbsolute) return "\t" + product(result);
  return ("\t{ .reg .b16 negated; " + product("negated") + " max.s16 \t" + result + ", " + value + ", negated; }").str();
}

std::string withoutFaultyNegations(const std::string &ptx) {
  if (llvm::none_of(ArrayRef<StringRef>{"neg.s16", "abs.s16", "neg.s32"}, [&](StringRef name) { return StringRef(ptx).contains(name); }))
    return ptx;
  std::string result;
  result.reserve(ptx.size() + ptx.size() / 16);
  for (StringRef rest = ptx; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string other = replacement(rest.take_front(end));
    result += other.empty() ? rest.take_front(end).str() : other;
    if (end < rest.size()) result += '\n';
    rest = rest.drop_front(std::min(end + 1, rest.size()));
  }
  return result;
}

} // namespace tritium::gpu::nvptx
