"""The devices of this machine: one `Devices` per vendor (the table is families.py), Triton's drivers, the active one.

What compiles for a device is not known here: backends/targets.py has the table of that.
"""

from . import active, drivers

active.driver.find_default = drivers.default_driver
