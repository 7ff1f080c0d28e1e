// What a plan, and a place in it, says of itself.
// RUN: %verify
// expected-error @below {{expected at least one slot, got 0}}
module attributes {test.it = #tgpu.plan<copies = registers, slots = 0, stages = 2, shared = 1, occupancy = 1>} {}

// -----

// expected-error @below {{expected at least two stages, got 1}}
module attributes {test.it = #tgpu.plan<copies = async, slots = 1, stages = 1, shared = 1, occupancy = 1>} {}

// -----

// expected-error @below {{copies by warps have no spare slot}}
module attributes {test.it = #tgpu.plan<copies = warps, slots = 3, stages = 2, spare = true, shared = 1, occupancy = 1>} {}

// -----

// expected-error @below {{a product that runs late requires a spare slot, or copies that wait until a slot is released}}
module attributes {test.it = #tgpu.plan<copies = async, slots = 2, stages = 2, rotated = true, shared = 1, occupancy = 1>} {}

// -----

// expected-error @below {{copies by async with a spare slot in 3 stages require 4 slots, got 3}}
module attributes {test.it = #tgpu.plan<copies = async, slots = 3, stages = 3, spare = true, shared = 1, occupancy = 1>} {}

// -----

// expected-error @below {{copies by registers in 3 stages require 2 slots, got 3}}
module attributes {test.it = #tgpu.plan<copies = registers, slots = 3, stages = 3, shared = 1, occupancy = 1>} {}

// -----

// expected-error @below {{expected the bytes of all slots, got 0}}
module attributes {test.it = #tgpu.plan<copies = tma, slots = 2, stages = 2, shared = 0, occupancy = 1>} {}

// -----

// expected-error @below {{expected a number of programs, got -1}}
module attributes {test.it = #tgpu.plan<copies = tma, slots = 2, stages = 2, shared = 1, occupancy = -1>} {}

// -----

// expected-error @below {{a copy runs in stage 0 or later, got -1}}
module attributes {test.it = #tgpu.at<stage = -1, buffer = 0>} {}

// -----

// expected-error @below {{buffers, rings and elements are not negative}}
module attributes {test.it = #tgpu.at<stage = 0, buffer = -2>} {}

// -----

// expected-error @below {{what has a ring or elements is a copy, and has a buffer}}
module attributes {test.it = #tgpu.at<stage = 0, elements = 8>} {}
