"""Where the work on documents runs: bounded local processes, or any executor.

The pipeline only calls ``submit``, so an executor of an existing engine serves as well, for
instance ``dask.distributed.Client.get_executor()``.
"""

import multiprocessing
import os
import resource
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import Any

from pebble import ProcessExpired, ProcessPool

from policyproof_assets.errors import ExtractError

#: Seconds one document may take in one phase. The slowest accepted document takes 5.
SECONDS_PER_TASK = 300
#: Bytes of private memory of one worker. Reading the largest accepted document takes 0.4e9.
MEMORY_PER_WORKER = 4 * 2**30


class BoundedProcesses(Executor):
    """Processes in which one task can neither hang nor exhaust memory for the others.

    A task over its time is killed with its process and the others go on.
    """

    def __init__(self, count: int | None = None) -> None:
        # A fork of this process would copy the locks of threads that polars and pyarrow have
        # running; the fork server has imported them and not yet used them.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["policyproof_assets.pipeline"])
        self._pool = ProcessPool(
            max_workers=count or os.cpu_count() or 1,
            context=context,
            initializer=resource.setrlimit,
            initargs=(resource.RLIMIT_DATA, (MEMORY_PER_WORKER, MEMORY_PER_WORKER)),
        )

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run ``fn`` in a worker; the future raises TimeoutError or ProcessExpired over bounds."""
        return self._pool.schedule(fn, args=args, kwargs=kwargs, timeout=SECONDS_PER_TASK)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001, FBT002 -- the signature of Executor
        """End the workers; with ``cancel_futures`` at once."""
        (self._pool.stop if cancel_futures else self._pool.close)()
        if wait:
            self._pool.join()


def run_each(
    executor: Executor, fn: Callable[..., Any], tasks: Sequence[tuple[str, tuple[Any, ...]]]
) -> Iterator[tuple[int, Any]]:
    """Run ``fn(*args)`` for every (name, args) of ``tasks``; yields (index, result) as they end.

    A task that breaks its bounds gives an ExtractError with its name in place of a result, as does
    one that raised a PolicyProofError; any other exception is raised.
    """
    futures = {executor.submit(fn, *args): i for i, (_, args) in enumerate(tasks)}
    try:
        for future in as_completed(futures):
            index = futures.pop(future)  # no result is held once it has been taken
            yield index, _outcome(future, tasks[index][0])
    finally:
        for future in futures:
            future.cancel()


def _outcome(future: Future[Any], name: str) -> Any:
    try:
        return future.result()
    except ExtractError as error:
        return error
    except (TimeoutError, MemoryError, ProcessExpired) as error:
        return ExtractError(
            f"{name}: reading it broke the bounds of one document",
            expected=f"{SECONDS_PER_TASK} s and {MEMORY_PER_WORKER / 2**30:.0f} GiB",
            found=repr(error),
            action="check that the file is what it should be, or leave it out of the corpus",
        )
