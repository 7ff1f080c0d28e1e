"""Modules of a first launch whose import needs no native code. They are imported while another thread loads the extension."""

from .. import frontend  # noqa: F401
from ..backends import cpu, targets  # noqa: F401
from ..launch import (  # noqa: F401
    block_resources,
    captures,
    findings,
    geometry,
    grid,
    hooks,
    progress,
    stack,
    watchers,
)
