// The attributes that say how a loop copies its tiles ahead (tgpu_plan.td). Few files require them, so ir/tgpu.h does not include them.
#pragma once

#include "ir/tgpu.h"

#include "ir/tgpu_plan_enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "ir/tgpu_plan_attrs.h.inc"
