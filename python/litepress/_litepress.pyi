"""The extension: what the package calls, and users do not. Reports are JSON."""

from collections.abc import Callable, Iterable
from typing import Any, final

from ._data import Arrow, Columns, Rows

__all__ = [
    "Writer",
    "__version__",
    "check",
    "generate",
    "load",
    "only_table",
    "plan_generate",
    "plan_load",
    "preset",
    "presets",
    "profile",
    "run_program",
    "schema_file",
    "write",
]

__version__: str

_Tell = Callable[[int, int, str], object] | None

def write(
    path: object,
    tables: list[tuple[str, Arrow | Columns | Rows]],
    schema: tuple[str, str] | None,
    table_options: dict[str, Any],
    store_as: list[tuple[str, str]],
    making_options: dict[str, Any],
    adapters: dict[type, Callable[[Any], Any]] | None,
    tell: _Tell,
) -> tuple[str, bytes | None]: ...
def only_table(text: str, origin: str) -> str | None: ...
def load(
    path: object, files: dict[str, Any], tables: dict[str, Any], making: dict[str, Any], tell: _Tell
) -> str: ...
def generate(
    path: object, schema: tuple[str, str], rows: dict[str, Any], making: dict[str, Any], tell: _Tell
) -> str: ...
def plan_load(path: object, files: dict[str, Any], tables: dict[str, Any], making: dict[str, Any]) -> str: ...
def plan_generate(path: object, schema: tuple[str, str], rows: dict[str, Any], making: dict[str, Any]) -> str: ...
def check(path: object, full: bool, arguments: dict[str, Any]) -> str: ...
def profile(path: object, keep_values: bool, arguments: dict[str, Any]) -> str: ...
def schema_file(path: object) -> tuple[str, str]: ...
def preset(name: str) -> tuple[str, str]: ...
def presets() -> list[str]: ...
def run_program(arguments: list[str]) -> int: ...
@final
class Writer:
    def __new__(
        cls,
        path: object,
        schema: tuple[str, str],
        making_options: dict[str, Any],
        adapters: dict[type, Callable[[Any], Any]],
    ) -> Writer: ...
    @property
    def names(self) -> list[str]: ...
    def position(self, name: str) -> int | None: ...
    def append(self, row: object, table: int) -> None: ...
    def extend_rows(self, rows: Iterable[Any], table: int) -> None: ...
    def extend(self, described: Arrow | Columns, table: int) -> None: ...
    def rows(self, table: int) -> int: ...
    def close(self) -> tuple[str, bytes | None]: ...
    def abort(self) -> None: ...
