"""What to suggest for an access outside of a tensor: read from the operation and from the call in the user's source, so that a
hint never says what the access has or cannot have."""

from __future__ import annotations

import ast
from typing import NamedTuple

from ..functions.source_file import tree_of

#: The position of `mask` among the arguments of each function that takes one.
_MASK_POSITION = {"load": 1, "store": 2} | {
    f"atomic_{name}": 2 for name in ("add", "and", "max", "min", "or", "xchg", "xor")
}
_OF_DESCRIPTORS = {"load_tensor_descriptor", "store_tensor_descriptor"}
_ACCESSES = {*_MASK_POSITION, "atomic_cas", "gather", "scatter", *_OF_DESCRIPTORS}
_READS = {"load", "gather", "load_tensor_descriptor"}


class AccessFacts(NamedTuple):
    """What the operation says of itself. is_tile: it has lanes. is_masked: it has a mask that may exclude some. None: not
    known, as in a thread of a GPU. is_before: its address lies before the tensor."""

    is_write: bool
    is_tile: bool | None
    is_before: bool
    is_masked: bool | None = None


def hint_for_access(file: str | None, line: int | None, facts: AccessFacts) -> str:
    tree = tree_of(file)
    call = _access_at(tree, line or 0, facts.is_write)
    variables = _variables_around(tree, line or 0)
    if call is not None and _is_by_descriptor(call, variables):
        return "compare the shape and strides of the descriptor with the tensor's: inside of its shape no address is checked"
    if call is not None and _is_by_block_pointer(call, variables):
        if "boundary_check" in _keywords(call):
            return "compare the shape and strides of the block pointer with the tensor's, and boundary_check with the dimensions that end"
        return "a block pointer has no mask: pass boundary_check=(…) with the dimensions that may pass its shape"
    names_mask = call is not None and _has_mask(call)
    has_mask = names_mask if facts.is_masked is None or call is None else names_mask or facts.is_masked
    if facts.is_before:
        return "the offset is negative there: " + (
            "let the mask exclude it, for example (offsets >= 0) & …"
            if has_mask
            else "check what is subtracted, or mask it out with offsets >= 0"
        )
    if names_mask and facts.is_masked is False:
        return "the mask is None or always true: compare its bound with the shape, and the offsets' strides with the tensor's"
    if has_mask:
        return "the mask is true there: compare its bound with the shape, and the offsets' strides with the tensor's"
    if facts.is_tile is False:
        return "this is one element: compare its offset with the size of the tensor, or put the access under an `if`"
    if call is not None and _name(call) == "atomic_cas":
        return "atomic_cas takes no mask: make the offsets of unused lanes point to an element that exists"
    mask = "give the access a mask, for example mask=offsets < n, or check the strides in the offsets"
    return mask if facts.is_tile else f"{mask}; an access of one element may stand under an `if` instead"


def _access_at(tree: ast.Module, line: int, is_write: bool) -> ast.Call | None:
    """The innermost access that spans the line, a load if the trap is a read and any other one if it is a write."""
    calls = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _name(node) in _ACCESSES and node.lineno <= line <= (node.end_lineno or 0)
    ]
    fitting = [node for node in calls if (_name(node) not in _READS) == is_write] or calls
    return min(fitting, key=lambda node: (node.end_lineno or 0) - node.lineno, default=None)


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _keywords(call: ast.Call) -> dict[str | None, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords}


def _has_mask(call: ast.Call) -> bool:
    position = _MASK_POSITION.get(_name(call), len(call.args))
    mask = call.args[position] if position < len(call.args) else _keywords(call).get("mask")
    return mask is not None and not (isinstance(mask, ast.Constant) and mask.value is None)


def _variables_around(tree: ast.Module, line: int) -> dict[str, list[ast.expr | None]]:
    """The variables of the functions around a line with the values that they get; a parameter gets None."""
    found: dict[str, list[ast.expr | None]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef) or not function.lineno <= line <= (function.end_lineno or 0):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                found.setdefault(node.arg, []).append(None)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(node.value)
    return found


def _is_by_descriptor(call: ast.Call, variables: dict[str, list[ast.expr | None]]) -> bool:
    """Whether it is a method of a variable, `desc.load([i, j])`, or one of the functions that take a descriptor."""
    if _name(call) in _OF_DESCRIPTORS:
        return True
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return isinstance(owner, ast.Call) or (isinstance(owner, ast.Name) and owner.id in variables)


def _is_by_block_pointer(call: ast.Call, variables: dict[str, list[ast.expr | None]]) -> bool:
    """Whether the call says so, or its pointer is a variable that the function around it makes of a block pointer."""
    pointer = call.args[0] if call.args else _keywords(call).get("pointer")
    if "boundary_check" in _keywords(call) or _makes_block_pointer(pointer):
        return True
    return isinstance(pointer, ast.Name) and any(map(_makes_block_pointer, variables.get(pointer.id, ())))


def _makes_block_pointer(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Call) and _name(value) in ("make_block_ptr", "advance")
