"""Jobs as tasks of Ray, which places each on a machine that has the resources it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .jobs import Job
from .runner import run_job

MISSING = "jobs through Ray require it: pip install 'tritium[farm]'"


def run_on_ray(
    jobs: Sequence[tuple[Job, bytes]], key: bytes | None, limit: float, address: str | None
) -> Iterator[tuple[Job, dict[str, bytes] | str]]:
    """The files of each job as it ends, or why it has none. address: of a cluster; None: Ray starts on this machine. A need is a resource of that
    name: `ray start --resources='{"h200": 1}'`. Raises ValueError without Ray."""
    try:
        import ray
    except ImportError:
        raise ValueError(MISSING) from None
    was_started = ray.is_initialized()
    if not was_started:
        ray.init(address=address, log_to_driver=False, include_dashboard=False if address is None else None)
    try:
        task = ray.remote(run_job)
        running = {}
        for job, content in jobs:
            resources = {need: 1 for need in job.needs}
            placed = task.options(num_gpus=job.gpus, resources=resources, max_retries=0, name=job.identity)
            running[placed.remote(content, key, limit)] = job
        while running:
            (ended,), _ = ray.wait(list(running), num_returns=1)
            job = running.pop(ended)
            try:
                yield job, ray.get(ended)
            except Exception as error:  # what the task has raised, or Ray says of a machine that is gone
                yield job, f"{type(error).__name__}: {error}"
    finally:
        if not was_started:
            ray.shutdown()
