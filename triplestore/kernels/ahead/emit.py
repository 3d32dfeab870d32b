"""Compiles one kernel with numba into object files, for a kind of processor."""

from __future__ import annotations

import ast
import inspect
import os
import textwrap
from pathlib import Path
from typing import Any

from triplestore.kernels.ahead.c_source import Overload
from triplestore.kernels.jit import Kernel


def set_processor(name: str) -> None:
    """Compile for this kind of processor in this process; before numba is imported."""
    os.environ["NUMBA_CPU_NAME"] = name
    os.environ["NUMBA_CPU_FEATURES"] = ""
    os.environ["NUMBA_BOUNDSCHECK"] = "0"


def emit(kernel: Kernel[..., Any], number: int, folder: Path) -> tuple[list[Overload], list[Path]]:
    """Write an object file per signature: what the C source needs to know, and the files."""
    _check(kernel)
    overloads, files = [], []
    for place, (signature, compiled) in enumerate(_compiled(kernel)):
        symbol = f"kernel_{number}_{place}"
        file = folder / f"{symbol}.o"
        file.write_bytes(_object(compiled, symbol))
        overloads.append(_overload(symbol, signature))
        files.append(file)
    return overloads, files


def _overload(symbol: str, signature: Any) -> Overload:
    from numba import types as nb

    if signature.return_type not in (nb.void, nb.none, nb.int64):
        raise TypeError(f"kernels that return {signature.return_type} cannot be compiled ahead")
    return Overload(symbol, tuple(signature.args), signature.return_type == nb.int64)


def _compiled(kernel: Kernel[..., Any]) -> list[tuple[Any, Any]]:
    from numba.core.registry import cpu_target

    assert cpu_target is not None
    dispatcher = kernel.compile_for_linking()
    return [(found.signature, found) for found in dispatcher.overloads.values()]


def _object(compiled: Any, symbol: str) -> bytes:
    import llvmlite.binding as llvm

    module = llvm.parse_bitcode(compiled.library._final_module.as_bitcode())
    entry = module.get_function(compiled.fndesc.llvm_func_name)
    for value in (*module.functions, *module.global_variables):
        if not value.is_declaration and value.name != entry.name:
            value.linkage = "internal"
    entry.name = symbol
    entry.linkage = "external"
    machine = _machine()
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
    return bytes(machine.emit_object(module))


def _machine() -> Any:
    import llvmlite.binding as llvm

    target = llvm.Target.from_triple(llvm.get_process_triple())
    return target.create_target_machine(
        cpu=os.environ["NUMBA_CPU_NAME"], features="", opt=3, reloc="pic", codemodel="default"
    )


def _check(kernel: Kernel[..., Any]) -> None:
    """The C source knows one error only, and no default values."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kernel.py_func)))
    if any(isinstance(node, ast.Raise | ast.Assert) for node in ast.walk(tree)):
        raise TypeError(f"{kernel} raises an error, so it cannot be compiled ahead of time")
    if kernel.py_func.__defaults__ or kernel.py_func.__kwdefaults__:
        raise TypeError(f"{kernel} has default values, so it cannot be compiled ahead of time")
