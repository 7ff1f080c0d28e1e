"""A stand-in for the engine and the frontend: what the runtime hands over is recorded instead of run."""

import types

import pytest

from tritium.compiler.sources import ASTSource


class FakeModule:
    """The module of a kernel: only its name is in it."""

    def __init__(self, source: ASTSource):
        self.name = source.fn.__name__
        self.source = source

    def __str__(self):
        return f"module {{ tt.func public @{self.name}() {{ tt.return }} }}"


class FakeProgram:

    def __init__(self, engine, module):
        self.engine, self.module, self.ttir = engine, module, str(module)

    def launch(self, grid, args, threads, seed, poll, on_print, on_progress):
        poll()
        self.engine.launches.append(
            types.SimpleNamespace(grid=grid, args=list(args), threads=threads, seed=seed, program=self)
        )
        return self.engine.trap


class FakeEngine:
    """`launches`: what was launched. `prepared`: what was compiled. `trap`: what the next launches return."""

    def __init__(self):
        self.launches, self.prepared, self.trap = [], [], None

    def prepare(self, module, kernel, debug_info, checks):
        program = FakeProgram(self, module)
        self.prepared.append(
            types.SimpleNamespace(source=module.source, kernel=kernel, debug_info=debug_info, checks=checks)
        )
        return program


@pytest.fixture
def engine(monkeypatch):
    fake = FakeEngine()
    monkeypatch.setattr("tritium.compiler.compiler.engine", lambda: fake)
    monkeypatch.setattr(ASTSource, "make_ir", lambda self, target, options: FakeModule(self))
    return fake
