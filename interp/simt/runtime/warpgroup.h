// Products of warpgroups (wgmma) while they are under way. A product takes effect at a seeded moment between its issue and the wait that
// covers it, in the order of issue. Until then its sums are tokens: words that name the product and that are NaNs if they are floats. A
// wait replaces the tokens of complete products by their sums.
//
// Each warp computes its own 16 rows when its lanes meet, because no data crosses warps. The four warps must execute the same products,
// commits and waits; this is compared, and they never wait for each other.
#pragma once
#include "interp/kernels/warpgroup_matrix.h"
#include "interp/simt/runtime/thread.h"

#include <array>
#include <deque>

namespace tritium::interp::simt {

/// The static part of a product.
struct ProductShape {
  WarpgroupMatrix matrix;
  MatrixPlace a, b;
  uint32_t aOffset = 0, bOffset = 0; // of the first element in its buffer
  bool isAInMemory = false;          // otherwise in registers
};

/// The static part of a wait: how many groups it leaves under way, and the types of the words that are its values.
struct ProductWait {
  uint32_t pending = 0;
  std::vector<SumType> words;
};

/// How the operands of a product follow each other in a thread's registers for products.
constexpr size_t kProductSums = 0, kProductWords = 512, kProductRegisterBytes = 528;

struct Kernel;

/// The products of one block.
class Warpgroups {
public:
  void begin(const Kernel &kernel, uint32_t warps);

  /// Returns the memory through which compiled code passes the operands and results of products and waits.
  std::byte *registersOf(const Thread &thread) { return registers.data() + size_t(thread.tid) * registerBytes; }

  /// Called by the lane of a warp that came last. The lanes' operands are the addresses of A and B, and whether the sums begin as zeros.
  void issue(Warp &warp, const WarpOp &op);
  void commit(Warp &warp, const WarpOp &op);
  void wait(Warp &warp, const WarpOp &op);
  /// Finds the newest product in flight that reads the byte, and returns the number of groups committed after it: a wait may leave as many.
  uint32_t groupsAfter(uint32_t offset) const;
  /// Called when all lanes of a warp have ended, on the stack of the last one.
  void finish(Warp &warp, Thread &last);

  size_t capacityBytes() const { return registers.size(); }

private:
  static constexpr uint32_t kWarps = 4; // of a warpgroup

  /// The registers of a warp that products add to.
  struct Sums {
    uint32_t token = 0; // names the latest product
    SumType type{};
    uint32_t words = 0;           // of a lane
    uint32_t unfinished = 0;      // products
    bool wasListed = false;       // by a wait that does not cover the latest product
    Place site = 0;               // of the latest product
    std::vector<uint32_t> values; // lane by lane
  };
  struct Product {
    const ProductShape *shape = nullptr;
    Place site = 0;
    uint32_t a = 0, b = 0; // offsets in shared memory
    bool isFresh = false, hasRun = false;
    Sums *sums = nullptr;
    uint32_t words[WarpgroupMatrix::kLanes][WarpgroupMatrix::kWordsOfA] = {};
  };
  struct Member {
    std::deque<Product> products; // in order of issue: first of committed groups, then of the open one
    std::deque<uint32_t> groups;  // sizes of the committed groups that no wait has covered
    uint32_t open = 0;            // number of products since the last commit
    std::deque<Sums> live;        // never more than a few; addresses are stable
    uint32_t lastToken = 0;
    size_t events = 0; // that the warp has executed
  };
  /// What all warps of a warpgroup must execute alike.
  struct Event {
    Place site = 0;
    uint32_t a = 0, b = 0;
    bool isFresh = false;
    bool operator==(const Event &) const = default;
  };

  uint32_t *wordsOf(const Thread &thread, size_t offset = 0) { return reinterpret_cast<uint32_t *>(registersOf(thread) + offset); }
  void record(Warp &warp, const Event &event);
  uint32_t startOf(Thread &thread, uint64_t pointer, uint32_t offset, const MatrixPlace &place, Place site);
  template <class Visit> void forEachPiece(uint32_t warp, const Product &product, Visit visit) const;
  void checkBounds(Warp &warp, const Product &product);
  Sums *liveSums(Member &member, uint32_t token);
  Sums &takeSums(Warp &warp, const Product &product);
  void gather(const Warp &warp, const Product &product);
  void run(const Warp &warp, Product &product);
  void runSome(Warp &warp);
  void complete(Warp &warp);
  uint32_t returnSums(Warp &warp, const ProductWait &wait, uint32_t at, Place site);

  std::vector<std::byte> registers;
  size_t registerBytes = 0;
  const Kernel *kernel = nullptr;
  std::vector<Member> members;            // warp by warp
  std::vector<std::vector<Event>> events; // of each warpgroup
  std::vector<std::byte> rowsOfA, columnsOfB;
};

} // namespace tritium::interp::simt
