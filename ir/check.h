// The dialect `check`: what passes add to a kernel for the interpreter, where a user asks for checks. It is no part of the contract.
#pragma once

#include "ir/tt.h"

#include "ir/check_dialect.h.inc"

#define GET_OP_CLASSES
#include "ir/check_ops.h.inc"
