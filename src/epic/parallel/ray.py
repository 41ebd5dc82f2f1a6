"""Run tasks on a Ray cluster with Ray Core, one remote call for each task."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from typing import Any

from epic.errors import InputError
from epic.parallel.processes import RETRIES, Outcome, attempt, following

AHEAD = 2
"""Tasks handed out for each processor if some may wait: enough to keep it busy, few enough to lose little."""


def on_ray(function: Callable[[Any], Any], tasks: Iterator[Any], address: str, ahead: bool) -> Iterator[Outcome]:
    """Yield outcomes as they come. A task whose node dies is done again on another node."""
    try:
        import ray
    except ImportError as error:
        raise InputError("--ray needs Ray: pip install ray (extra ray)") from error
    mine = not ray.is_initialized()
    if mine:
        _check_reachable(address)
        try:
            ray.init(address, log_to_driver=False, logging_level="error")
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"cannot reach the Ray cluster {address!r} ({error}): start one, or use local") from error
    try:
        threads = {"env_vars": {"OMP_NUM_THREADS": "1"}}
        call = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env=threads)(attempt)
        shared = ray.put(function)  # what it carries (graphs, a model) is sent to a node once
        running: dict[Any, Any] = {}
        while True:
            cpus = int(ray.cluster_resources().get("CPU", 1))  # nodes come and go
            room = max(1, AHEAD * cpus if ahead else cpus)
            while len(running) < room and (item := following(tasks, busy=bool(running))) is not None:
                running[call.remote(shared, item[0])] = item[0]
            if not running:
                return
            done, _ = ray.wait(list(running), num_returns=1)
            for reference in done:
                task = running.pop(reference)
                try:
                    yield Outcome(task, *ray.get(reference))
                except ray.exceptions.RayError as error:
                    yield Outcome(task, None, f"its node died {RETRIES + 1} times: {error}", 0.0)
    finally:
        if mine:
            ray.shutdown()


def _check_reachable(address: str) -> None:
    """Refuse an unreachable address: Ray itself would try for minutes and then end the process."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or "//" in address:
        return  # local, auto, or a client address
    try:
        socket.create_connection((host, int(port)), timeout=5).close()
    except OSError as error:
        raise InputError(f"cannot reach the Ray cluster {address!r} ({error}): start one, or use local") from error
