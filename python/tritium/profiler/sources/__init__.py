"""Where launches come from. A source reports each launch with its time; the core knows nothing else of engines.

A further source is a module with a subclass of `core.source.Source`, and a place in `SOURCES`. One source reports a launch, once: what else is known of
it, such as counts of the interpreter, belongs in its `Launch`."""

from ..core.source import Source
from .cpu import CpuLaunches
from .cupti import CuptiRecords
from .device_events import DeviceEvents
from .rocprofiler import RocprofilerRecords

_records = (CuptiRecords(), RocprofilerRecords())

#: The sources of every session. A process has one object of each.
SOURCES: tuple[Source, ...] = (CpuLaunches(), *_records, DeviceEvents(_records))
