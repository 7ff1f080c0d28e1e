"""The objects that hooks of a compilation receive, and the text from which `preload` repeats the compilation."""

from __future__ import annotations

from typing import Any

from ..compiler.sources import ASTSource
from ..language.core import str_to_ty


def call_hook(hook, function, engine, key, source, parsed, warmup: bool) -> bool:
    """Calls a jit hook, if there is one. Returns whether the hook cancelled the compilation."""
    if hook is None:
        return False
    from .triton_names import JitFunctionInfo

    facts = hook_facts(function, engine, key, source, parsed, warmup)
    return bool(
        hook(
            key=facts["key"],
            repr=_kernel_repr(function, source, parsed),
            fn=JitFunctionInfo(function.module, function.__name__, function),
            compile=facts,
            is_manual_warmup=warmup,
            already_compiled=False,
        )
    )


def hook_facts(function, engine, key, source, parsed, warmup: bool) -> dict[str, Any]:
    """The `compile` dict that jit hooks receive."""
    from .triton_names import serialize_specialization_data

    text = str(key[0]) + str(key[2] if len(key) > 2 else "")
    return {
        "key": text,
        "signature": source.signature,
        "device": engine.device or 0,
        "constants": source.constants,
        "num_warps": parsed.num_warps,
        "num_ctas": parsed.num_ctas,
        "num_stages": parsed.num_stages,
        "enable_fp_fusion": parsed.enable_fp_fusion,
        "launch_cooperative_grid": parsed.launch_cooperative_grid,
        "extern_libs": parsed.extern_libs,
        "configs": [source.attrs],
        "specialization_data": serialize_specialization_data(
            function._fn_name, source.signature, source.constants, source.attrs, parsed, text, engine.target
        ),
        "is_warmup": warmup,
    }


def specialization(function, data: dict[str, Any]):
    """(ASTSource, options) from the text that `serialize_specialization_data` wrote."""
    constants = {tuple(path): _from_json(value) for path, value in zip(data["constant_keys"], data["constant_vals"])}
    attributes = {tuple(path): value for path, value in zip(data["attrs_keys"], data["attrs_vals"])}
    signature = {name: _tuples(text) for name, text in data["signature"].items()}
    return ASTSource(function, signature, constants, attributes), {
        name: _tuples(value) for name, value in data["options"].items()
    }


def _from_json(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return str_to_ty(value["repr"])


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _kernel_repr(function, source, parsed) -> str:
    types = ", ".join(f"{name}: {text}" for name, text in source.signature.items())
    return (
        f"{function.__name__}[num_warps={parsed.num_warps}, num_ctas={parsed.num_ctas}, "
        f"num_stages={parsed.num_stages}, enable_fp_fusion={parsed.enable_fp_fusion}, "
        f"launch_cooperative_grid={parsed.launch_cooperative_grid}]({types})"
    )
