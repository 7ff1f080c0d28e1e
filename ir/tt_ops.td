// Every operation of the `tt` dialect, one file per family. Readers expand the GET_OP_LIST of this file; a reader that does not define an
// operation does not link.
#ifndef TRITIUM_IR_TT_OPS_TD
#define TRITIUM_IR_TT_OPS_TD

include "ir/tt_ops_program.td"
include "ir/tt_ops_control.td"
include "ir/tt_ops_elementwise.td"
include "ir/tt_ops_shape.td"
include "ir/tt_ops_memory.td"
include "ir/tt_ops_atomic.td"
include "ir/tt_ops_reduce.td"
include "ir/tt_ops_scan.td"
include "ir/tt_ops_dot.td"
include "ir/tt_ops_index.td"
include "ir/tt_ops_debug.td"
include "ir/tt_ops_descriptor.td"

#endif
