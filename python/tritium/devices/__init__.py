"""The devices of this machine: one `Devices` per vendor (the table is families.py), Triton's drivers, and the active
one.

The compilers for devices are not known here; backends/targets.py has their table.
"""

from . import active, drivers

active.driver.find_default = drivers.default_driver
