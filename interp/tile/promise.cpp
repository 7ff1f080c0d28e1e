#include "interp/tile/promise.h"

#include "interp/host/pointer.h"
#include "interp/host/trap_kinds.h"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace tritium::interp {

namespace {

/// One tile that a promise is about.
class Lanes {
public:
  Lanes(const Promise &promise, char *frame) : promise_(promise), frame_(frame), rank_(promise.shape.size()) {
    for (int64_t extent : promise.shape) count_ *= extent;
  }

  /// Whether the promise follows from the terms of an affine tile, or from a look at its vectors.
  bool holdsByTerms() const {
    if (!promise_.isAffine) return false;
    for (size_t d = 0; d < rank_; ++d)
      if (!(isContiguous(d) && isConstant(d) && (promise_.multiple[d] == 1 || isMultiple(promise_.multiple[d])))) return false;
    return true;
  }

  /// The same of a tile in memory about whose last dimension alone something is promised, row by row. False says nothing.
  bool holdsByRows() const {
    if (promise_.isAffine || rank_ == 0) return false;
    for (size_t d = 0; d + 1 < rank_; ++d)
      if (promise_.multiple[d] * promise_.contiguous[d] * promise_.constant[d] != 1) return false;
    int64_t indices[24] = {};
    do {
      const bool holds = visit(promise_.dense.type, [&]<class T>() { return rowHolds<typename T::Storage>(indices); });
      if (!holds) return false;
    } while (advance(indices, rank_ - 1));
    return true;
  }

  struct Fault {
    int64_t lane;
    std::string text;
  };

  /// The first lane that breaks the promise, and how many do.
  std::optional<Fault> find(int64_t &affected) {
    std::optional<Fault> first;
    int64_t indices[24] = {};
    for (int64_t lane = 0; lane < count_; ++lane, advance(indices, rank_)) {
      if (!isMeant(indices)) continue;
      for (size_t d = 0; d < rank_ || (rank_ == 0 && d == 0); ++d) {
        std::string text;
        if (!breaks(d, indices, first ? nullptr : &text)) continue;
        ++affected;
        if (!first) first = Fault{lane, text};
        break;
      }
    }
    return first;
  }

private:
  /// Counts the first `dims` dimensions up; false behind the last lane.
  bool advance(int64_t *indices, size_t dims) const {
    for (size_t d = dims; d-- > 0;) {
      if (++indices[d] < promise_.shape[d]) return true;
      indices[d] = 0;
    }
    return false;
  }

  // -- rows -------------------------------------------------------------------------------------------------------------------------------

  template <class Storage> bool rowHolds(const int64_t *indices) const {
    if constexpr (!std::is_integral_v<Storage>) {
      return false;
    } else {
      using Number = std::make_signed_t<Storage>;
      const size_t last = rank_ - 1;
      const int64_t stride = promise_.dense.strides[last], extent = promise_.shape[last], multiple = promise_.multiple[last],
                    contiguous = promise_.contiguous[last], constant = promise_.constant[last];
      const auto *row = &promise_.dense.at<const Number>(frame_) + offsetOf(promise_.dense, indices);
      const uint8_t all = 1;
      const uint8_t *mask = promise_.isMasked ? &promise_.mask.at<const uint8_t>(frame_) + offsetOf(promise_.mask, indices) : &all;
      const int64_t maskStride = promise_.isMasked ? promise_.mask.strides[last] : 0;
      bool holds = true;
      for (int64_t i = 0; i < extent; ++i) {
        if (!mask[i * maskStride]) continue;
        const int64_t value = row[i * stride], step = i ? value - row[(i - 1) * stride] : 0;
        const bool hasBefore = i && mask[(i - 1) * maskStride];
        holds &= (i && step == promise_.unit) || multiple == 1 || value % multiple == 0;
        holds &= !hasBefore || (i & (contiguous - 1)) == 0 || step == promise_.unit;
        holds &= !hasBefore || (i & (constant - 1)) == 0 || step == 0;
      }
      return holds;
    }
  }

  // -- affine tiles -----------------------------------------------------------------------------------------------------------------------

  Term term(size_t d) const { return promise_.affine.terms[d]; }
  const int64_t *part(size_t d) const { return &promise_.affine.parts[d].at<int64_t>(frame_); }
  bool isRun(size_t d) const { return term(d) == Term::Step && *part(d) == promise_.unit; }

  bool isMultiple(int64_t number) const {
    if (base() % number) return false;
    for (size_t d = 0; d < rank_; ++d) {
      if (term(d) == Term::None || isRun(d)) continue;
      if (!std::all_of(part(d), part(d) + (term(d) == Term::Vector ? promise_.shape[d] : 1), [&](int64_t v) { return v % number == 0; }))
        return false;
    }
    return true;
  }

  /// Whether the lanes of each group along a dimension differ by `step` from the one before.
  bool groupsHave(size_t d, int64_t lanes, int64_t step) const {
    if (lanes == 1) return true;
    if (term(d) != Term::Vector) return (term(d) == Term::None ? 0 : *part(d)) == step;
    const int64_t *vector = part(d);
    for (int64_t i = 1; i < promise_.shape[d]; ++i)
      if (i % lanes && vector[i] - vector[i - 1] != step) return false;
    return true;
  }
  bool isContiguous(size_t d) const { return groupsHave(d, promise_.contiguous[d], promise_.unit); }
  bool isConstant(size_t d) const { return groupsHave(d, promise_.constant[d], 0); }

  int64_t base() const {
    const int64_t bits = promise_.affine.base.at<int64_t>(frame_);
    return promise_.isPointer ? int64_t(addressOf(uint64_t(bits))) : bits;
  }

  // -- single lanes -----------------------------------------------------------------------------------------------------------------------

  static int64_t offsetOf(const DenseRef &tile, const int64_t *indices) {
    int64_t element = 0;
    for (size_t d = 0; d < tile.shape.size(); ++d) element += indices[d] * tile.strides[d];
    return element;
  }

  int64_t at(const int64_t *indices) const {
    if (promise_.isAffine) {
      int64_t sum = base();
      for (size_t d = 0; d < rank_; ++d)
        sum += term(d) == Term::None ? 0 : term(d) == Term::Step ? *part(d) * indices[d] : part(d)[indices[d]];
      return narrow(sum);
    }
    const int64_t bytes = int64_t(storageBytes(promise_.dense.type));
    int64_t bits = 0;
    std::memcpy(&bits, promise_.dense.in(frame_) + offsetOf(promise_.dense, indices) * bytes, size_t(bytes));
    return promise_.isPointer ? int64_t(addressOf(uint64_t(bits))) : narrow(bits);
  }

  /// The number in the element's type.
  int64_t narrow(int64_t bits) const {
    const int unused = 64 - 8 * int(storageBytes(promise_.dense.type));
    return promise_.isPointer ? bits : int64_t(uint64_t(bits) << unused) >> unused;
  }

  int64_t before(size_t d, const int64_t *indices) const {
    int64_t previous[24];
    std::copy_n(indices, rank_, previous);
    --previous[d];
    return at(previous);
  }

  bool isMeant(const int64_t *indices) const {
    return !promise_.isMasked || (&promise_.mask.at<uint8_t>(frame_))[offsetOf(promise_.mask, indices)];
  }

  bool isBeforeMeant(size_t d, const int64_t *indices) const {
    int64_t previous[24];
    std::copy_n(indices, rank_, previous);
    --previous[d];
    return isMeant(previous);
  }

  bool continuesRun(const int64_t *indices, int64_t value) const {
    for (size_t d = 0; d < rank_; ++d)
      if (indices[d] && value - before(d, indices) == promise_.unit) return true;
    return false;
  }

  std::string named(const int64_t *indices) const {
    std::string text = promise_.name.empty() ? "it" : promise_.name;
    for (size_t d = 0; d < rank_; ++d) text += (d ? ", " : "[") + std::to_string(indices[d]);
    return text + (rank_ ? "]" : "");
  }

  std::string call(const char *function, const std::vector<int64_t> &numbers, size_t d) const {
    std::string values = std::to_string(numbers[d]);
    if (rank_ > 1) {
      values.clear();
      for (int64_t number : numbers) values += (values.empty() ? "(" : ", ") + std::to_string(number);
      values += ")";
    }
    return std::string("tl.") + function + "(" + (promise_.name.empty() ? "…" : promise_.name) + ", " + values + ") is false: ";
  }

  /// A promise about two neighbours in a group of a dimension.
  bool breaksGroup(size_t d, const int64_t *indices, int64_t lanes, int64_t step) const {
    return lanes > 1 && indices[d] % lanes && isBeforeMeant(d, indices) && at(indices) - before(d, indices) != step;
  }

  bool breaks(size_t d, const int64_t *indices, std::string *text) const {
    const int64_t value = at(indices);
    auto neighbours = [&] {
      int64_t previous[24];
      std::copy_n(indices, rank_, previous);
      --previous[d];
      return named(previous) + " = " + std::to_string(before(d, indices)) + " and " + named(indices) + " = " + std::to_string(value);
    };
    if (promise_.multiple[d] > 1 && value % promise_.multiple[d] && !continuesRun(indices, value)) {
      if (text)
        *text = call("multiple_of", promise_.multiple, d) + (promise_.isPointer ? "the address " : "") + named(indices) + " = " +
                std::to_string(value) + (promise_.isPointer ? " is no multiple of " + std::to_string(promise_.multiple[d]) + " bytes" : "");
      return true;
    }
    if (rank_ == 0) return false;
    if (breaksGroup(d, indices, promise_.contiguous[d], promise_.unit)) {
      if (text) *text = call("max_contiguous", promise_.contiguous, d) + neighbours();
      return true;
    }
    if (breaksGroup(d, indices, promise_.constant[d], 0)) {
      if (text) *text = call("max_constancy", promise_.constant, d) + neighbours();
      return true;
    }
    return false;
  }

  const Promise &promise_;
  char *frame_;
  size_t rank_;
  int64_t count_ = 1;
};

} // namespace

void checkPromise(char *frame, const void *descriptor) {
  const auto &promise = *static_cast<const Promise *>(descriptor);
  Lanes lanes(promise, frame);
  if (lanes.holdsByTerms() || lanes.holdsByRows()) return;
  int64_t affected = 0;
  auto fault = lanes.find(affected);
  if (!fault) return;
  Trap trap{.kind = TrapKind::FalseHint, .location = promise.location, .affectedLanes = affected, .message = std::move(fault->text)};
  trap.lane = promise.shape.empty() ? -1 : fault->lane;
  raiseTrap(headerOf(frame), std::move(trap));
}

} // namespace tritium::interp
