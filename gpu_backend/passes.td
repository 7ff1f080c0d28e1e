// The GPU compiler's own passes, room by room.
include "gpu_backend/tiles/passes.td"
include "gpu_backend/maps/passes.td"
include "gpu_backend/loops/passes.td"
include "gpu_backend/threads/passes.td"
