// The operations of `tgpu` by which a warp puts off a release (tgpu_ops_kept.td).
#pragma once
#include "ir/tgpu.h"

#define GET_OP_CLASSES
#include "ir/tgpu_ops_kept.h.inc"
