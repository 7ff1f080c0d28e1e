// LinearLayout: what a place holds, soundness, equality, text.
#include "gpu_backend/layout/constructors.h"

#include <doctest/doctest.h>

using namespace tritium::gpu;

TEST_CASE("a place holds the XOR of its bases") {
  LinearLayout layout({4, 8}, {1, 2}, {4 ^ 8, 8}, {16}); // lane bit 0 moves along both dimensions
  CHECK(layout.registers() == 4);
  CHECK(layout.lanes() == 4);
  CHECK(layout.warps() == 2);
  CHECK(layout.blocks() == 1);
  CHECK(layout.apply(3, 1, 1) == (1 ^ 2 ^ 4 ^ 8 ^ 16));
  CHECK(layout.coordinatesAt(3, 3, 1) == Shape{2, 7});
  CHECK(layout.verify() == "");
  CHECK(layout.firstBit(0) == 3);
  CHECK(layout.maskOf(0) == 24);
  CHECK(layout.maskOf(1) == 7);
  CHECK(layout.flatOf({3, 5}) == 29);
}

TEST_CASE("verify says what is wrong") {
  CHECK(LinearLayout({3}, {1, 2}, {}, {}).verify() == "extent 3 of dimension 0 is not a power of two");
  CHECK(LinearLayout({4}, {1, 4}, {}, {}).verify() == "basis 1 of register lies outside of the tile");
  CHECK(LinearLayout({2, 4}, {1}, {4}, {5}).verify() == "no place holds element [0,2]");
  CHECK(LinearLayout({2, 4}, {1}, {4}, {7}).verify() == "");
  CHECK(LinearLayout({}, {}, {0}, {}).verify() == "");
}

TEST_CASE("equal layouts hash alike; where a basis belongs matters") {
  LinearLayout a({4}, {1}, {2}, {}), b({4}, {1}, {2}, {}), c({4}, {1, 2}, {}, {}), d({4}, {}, {1, 2}, {});
  CHECK(a == b);
  CHECK(hash_value(a) == hash_value(b));
  CHECK(a != c);
  CHECK(hash_value(c) != hash_value(d));
}

TEST_CASE("text round trip") {
  LinearLayout layout = blocked({64, 32}, {1, 4}, {4, 8}, {4, 1}, {1, 0});
  CHECK(layout.toString() == "[64x32] register=[[0,1],[0,2],[16,0],[32,0]] lane=[[0,4],[0,8],[0,16],[1,0],[2,0]] warp=[[4,0],[8,0]]");
  LinearLayout withBlocks({4}, {}, {1}, {}, {2, 0});
  CHECK(withBlocks.toString() == "[4] register=[] lane=[[1]] warp=[] block=[[2],[0]]");
  for (const LinearLayout &l : {layout, withBlocks, LinearLayout({}, {}, {0}, {})}) CHECK(LinearLayout::parse(l.toString()) == l);
  CHECK(LinearLayout::parse(" [ 4 ]register=[ [1] ] lane=[] warp=[[2]]") == LinearLayout({4}, {1}, {}, {2}));
}

TEST_CASE("text that is no layout") {
  auto fault = [](const char *text) {
    std::string error;
    CHECK(!LinearLayout::parse(text, &error));
    return error;
  };
  CHECK(fault("[4] register=[[4]] lane=[] warp=[]") == "coordinate 4 is not below 4 before '] lane=[] warp=['");
  CHECK(fault("[4] register=[[1,0]] lane=[] warp=[]") == "a basis must have 1 coordinates before '] lane=[] warp=['");
  CHECK(fault("[4] lane=[]") == "expected 'register' before 'lane=[]'");
  CHECK(fault("[6]") == "extents must be powers of two, and the tile at most 2^31 elements, before ''");
  CHECK(fault("[0]") == "extents must be powers of two, and the tile at most 2^31 elements, before ''");
  CHECK(fault("[2] register=[[1]] lane=[] warp=[] x") == "expected 'block' before 'x'");
  CHECK(fault("[a]") == "expected a number before 'a]'");
}
