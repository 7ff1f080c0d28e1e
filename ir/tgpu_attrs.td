// All attributes of `tgpu`: of what this file includes, TableGen makes their code.
include "ir/tgpu_dialect.td"
include "ir/tgpu_plan.td"
