"""Folders of SQLite databases that many processes or machines write together: shards.

One process begins a job, any process writes parts of it, and one commits them. Readers see the old set of shards or the new one.

    >>> from litepress import shards
    >>> job = shards.begin("/data/user", table="user", primary_key="id", indexes=["area"])  # doctest: +SKIP
    >>> part = job.write(0, batches)  # in a worker: jobs and parts can be pickled  # doctest: +SKIP
    >>> job.commit([part])  # doctest: +SKIP
    >>> shards.open("/data/user").shard_of(42).file  # doctest: +SKIP

The manifest ``_manifest.json`` names the databases that count. Attempts of a task never share a file, and the driver alone
publishes the manifest, so a task that is killed, repeated or run twice neither loses nor doubles rows.
"""

from ._job import Job, Part, begin
from ._keys import Key
from ._manifest import Manifest, Shard
from ._reading import Finding, Shards, ShardsReport
from ._reading import open_shards as open

__all__ = ["Finding", "Job", "Key", "Manifest", "Part", "Shard", "Shards", "ShardsReport", "begin", "open"]
