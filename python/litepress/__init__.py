"""litepress: the fastest safe way to make SQLite databases.

All cores encode records and build b-tree pages, each page is written once, and the file is whole or absent.

    >>> import litepress
    >>> litepress.write("shop.db", {"user": [{"id": 1, "name": "Ada"}]}, primary_key="id")  # doctest: +SKIP

===========================  ====================================================================
:func:`write`                a database of dataframes, columns or rows
:func:`load`                 a database of files: CSV, NDJSON, Parquet, Arrow, SQLite
:func:`generate`             a database of generated rows
:func:`create`               a writer for programs whose rows come as they run
:func:`to_bytes`             a database in memory, as bytes
:func:`connect`              a database in memory, connected to
:func:`plan`                 what would be made, and how
:func:`profile`              a recipe for a database that looks like one there is
:func:`compare`              how far apart the values of two databases are
:func:`check`                whether every page of a database is as it should be
:func:`index`                indexes of a database that exists, while others use it
:func:`reindex`              its indexes once more
:func:`merge`                databases of one schema as one
:func:`compact`              a database without its free space, in place or as a copy
===========================  ====================================================================

All errors are subclasses of :class:`Error`, except the TypeError or ValueError of a wrong argument.
"""

from ._adapt import __doc__ as _values
from ._check import CheckReport, check
from ._compact import compact
from ._errors import (
    ConstraintError,
    CorruptError,
    DataError,
    Error,
    FileError,
    GeneratorError,
    LimitError,
    NoSpaceError,
    SchemaError,
    TargetError,
    TargetExistsError,
    UnsupportedError,
    UsageError,
)
from ._files import compare, generate, load, plan, profile
from ._index import IndexSummary, index, reindex
from ._litepress import __version__
from ._merge import merge
from ._progress import Progress
from ._result import Plan, Summary
from ._write import connect, to_bytes, write
from ._writer import TableWriter, Writer, create

# help(litepress) includes the table of Python values and their stored forms.
__doc__ = f"{__doc__}\n{_values}"

__all__ = [
    "CheckReport",
    "ConstraintError",
    "CorruptError",
    "DataError",
    "Error",
    "FileError",
    "GeneratorError",
    "IndexSummary",
    "LimitError",
    "NoSpaceError",
    "Plan",
    "Progress",
    "SchemaError",
    "Summary",
    "TableWriter",
    "TargetError",
    "TargetExistsError",
    "UnsupportedError",
    "UsageError",
    "Writer",
    "__version__",
    "check",
    "compact",
    "compare",
    "connect",
    "create",
    "generate",
    "index",
    "load",
    "merge",
    "plan",
    "profile",
    "reindex",
    "to_bytes",
    "write",
]
