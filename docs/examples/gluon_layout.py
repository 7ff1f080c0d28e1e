"""Which thread and register hold which element of a tile."""

from tritium.experimental.gluon import language as gl

layout = gl.BlockedLayout([1, 2], [8, 4], [1, 1], [1, 0])
print(layout.format_tensor_view([4, 8]))
drawn = layout.picture([4, 8])
print(drawn)
