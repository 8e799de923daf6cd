"""A key of three integers and a text, in memory, with SQLite's own API: the advice of the answers to one question.

The question has a database of 9 GB with 100 million rows; here are fewer rows of the same kind. The figures are those of
the question's author.
"""

import functools

from suite import generated, toolchains
from suite.generated import IN_MEMORY
from suite.benchmark import Absent, Case, Published, Benchmark, expect, verify_and

TITLE = "A composite key, in memory: order, pages, caches, snapshots and writers"
SOURCE = "Optimizing SQLite In-Memory Database Insert Performance for Large Datasets: a question, and what was advised"

ROWS = 10**8
FIRST_TRY = 90 * 60
IN_MEMORY = "The rows are in memory before the clock starts."

KEYED = (
    "SELECT count(*), min(b), max(b), sum(a), sum(b), sum(c), sum(length(name)), sum(name GLOB '*[^0-9a-f]*'), "
    "min(name) < max(name) FROM keyed"
)
TABLES = 4
OF_TABLE = KEYED.replace(" FROM keyed", ", (SELECT wr FROM pragma_table_list WHERE name = 'keyed') FROM keyed")
"""Also returns whether the table is WITHOUT ROWID."""
OF_PAGES = KEYED.replace(" FROM keyed", ", (SELECT page_size FROM pragma_page_size) FROM keyed")
WRITTEN = KEYED.replace("FROM keyed", f"FROM ({' UNION ALL '.join(f'SELECT * FROM keyed{table}' for table in range(TABLES))})")
LONG = (
    "SELECT count(*), min(length(body)), max(length(body)), sum(unicode(CAST(substr(body, 1, 1) AS TEXT))), "
    "sum(unicode(CAST(substr(body, -1) AS TEXT))) FROM long"
)
LENGTHS = (10_000, 100_000, 1_000_000)


# Checks.


@functools.cache
def sums(rows):
    """Returns the sums of the columns a, b and c over all rows."""
    numbers = range(rows)
    return sum(number * 1000 // rows for number in numbers), sum(numbers), sum(number % 1000 for number in numbers)


def verify_keyed(row, rows):
    expect(row, (rows, 0, rows - 1, *sums(rows), 32 * rows, 0, int(rows > 1)))


def verify_long(length, row, rows):
    """Checks texts that repeat the alphabet, each starting one letter later: the length determines first and last letter."""
    first, last = (sum(97 + (number + behind) % 26 for number in range(rows)) for behind in (0, length - 1))
    expect(row, (rows, length, length, first, last))


CASES = [
    Case("composite/key", "Three integers and a text are the key", OF_TABLE, functools.partial(verify_and, 0, verify_keyed)),
    Case("composite/transaction", "A composite key: rows a transaction", KEYED, verify_keyed, "rows a transaction"),
    Case("composite/page-size", "A composite key: bytes of a page", OF_PAGES, functools.partial(verify_and, 4096, verify_keyed), "bytes of a page"),
    Case("composite/page-cache", "A composite key: the page cache", KEYED, verify_keyed, "pages of cache"),
    Case("composite/long-texts", "Long texts: bound, or written into their place", LONG, functools.partial(verify_long, LENGTHS[0]), "bytes of a text"),
    Case("composite/snapshot", "A composite key: a snapshot made and loaded", KEYED, verify_keyed),
    Case("composite/writers", "Four tables with a composite key, written at the same time", WRITTEN, verify_keyed, "writers"),
]


# Benchmarks.


def program(path, method):
    """Returns the command of a program; `method` is its text, or a function that returns the text for a setting."""
    def command(setting):
        words = method if isinstance(method, str) else method(setting)
        check = [setting.check] if setting.target == ":memory:" else []
        return [path(), words, setting.target, setting.rows, *check]

    return command


def rust(case, title, method, rows=200_000, *, place="memory", full=5, safe=None, **more):
    """Returns a benchmark of composite.rs; a crash loses a database in memory, so that it is not safe."""
    safe = place == "disk" if safe is None else safe
    return Benchmark(
        case, "Rust", title, place, program(lambda: toolchains.binary("composite"), method), ("rust",), rows, full * rows,
        safe, **more,
    )  # fmt: skip


def in_rust(case, title, place="memory"):
    """Returns the name of a benchmark of composite.rs."""
    return f"{case}/Rust/{title}/{place}"


litepress = functools.partial(generated.benchmark, rows=500_000, full=10)


def keyed(number, *, options="", first="", name="keyed"):
    """Returns a schema that generates the same rows with b from `number`, ordered or shuffled; `first` precedes the table."""
    def schema(rows):
        return (
            f"{first}CREATE TABLE {name} (\n"
            f"  a INTEGER NOT NULL, -- gen: b * 1000 / {rows}\n"
            f"  b INTEGER NOT NULL, -- gen: {number.format(last=rows - 1)}\n"
            "  c INTEGER NOT NULL, -- gen: b % 1000\n"
            "  name TEXT NOT NULL, -- gen: hex(32)\n"
            f"  PRIMARY KEY (a, b, c, name)\n){options};\n"
        )

    return schema


NO_ORDER, ORDER = "no order", "order of the key"
SHUFFLED, ASCENDING = "shuffle(0, {last})", "sequence(0)"
CURVE = (10**4, 10**5, 10**6)
WITHOUT_ROWID = f"{ORDER}, WITHOUT ROWID"


def keys():
    case, keyed_alone = "composite/key", functools.partial(verify_and, 1, verify_keyed)
    yield rust(
        case, NO_ORDER, "rows", reference=True, note=IN_MEMORY, growth=CURVE,
        published=(Published("composite", "the first try: 18,000 rows a second, 9 GB", ROWS, FIRST_TRY, 9 * 10**9),),
    )  # fmt: skip
    yield rust(
        case, ORDER, "rows sorted", after=in_rust(case, NO_ORDER), note=IN_MEMORY, growth=CURVE,
        published=(Published("composite", "in the order of the key: 80 % better (read as 1.8 times as fast)", ROWS, FIRST_TRY / 1.8),),
    )  # fmt: skip
    yield rust(
        case, WITHOUT_ROWID, "rows sorted without-rowid", after=in_rust(case, ORDER), verify=keyed_alone,
        published=(Published("composite", "WITHOUT ROWID, WAL, synchronous = 0", ROWS, ROWS / 250_000),),
        note=IN_MEMORY + " The article adds WAL and synchronous = 0, which have no effect in memory.",
    )  # fmt: skip
    yield rust(case, f"{NO_ORDER}, WITHOUT ROWID", "rows without-rowid", after=in_rust(case, NO_ORDER), note=IN_MEMORY, verify=keyed_alone)
    disk = functools.partial(rust, case, place="disk")
    yield disk(NO_ORDER, "rows")
    yield disk(ORDER, "rows sorted", after=in_rust(case, NO_ORDER, "disk"))
    yield disk(WITHOUT_ROWID, "rows sorted without-rowid", after=in_rust(case, ORDER, "disk"), verify=keyed_alone)
    yield disk(
        f"{WITHOUT_ROWID}, WAL, no sync", "rows sorted without-rowid wal", safe=False, verify=keyed_alone,
        after=in_rust(case, WITHOUT_ROWID, "disk"), note="On disk, where WAL and synchronous = 0 have an effect.",
    )  # fmt: skip
    for options, more in (("", ""), (" WITHOUT ROWID", ", WITHOUT ROWID")):
        for order, number in ((NO_ORDER, SHUFFLED), (ORDER, ASCENDING)):
            schema, verify = keyed(number, options=options), keyed_alone if options else None
            yield litepress(case, f"generate, {order}{more}", schema, growth=CURVE, verify=verify)
            yield litepress(case, f"{IN_MEMORY}, {order}{more}", schema, place="memory", full=4, verify=verify)


def transactions():
    case = "composite/transaction"
    for place in ("memory", "disk"):
        for rows in (1000, 10_000, 50_000):
            yield rust(
                case, f"{rows:,} rows a transaction", f"rows sorted transaction={rows}", place=place, at=rows,
                reference=(place, rows) == ("memory", 50_000),
            )  # fmt: skip
        yield rust(case, "one transaction", "rows sorted transaction=0", place=place)
    yield litepress(case, IN_MEMORY, keyed(ASCENDING), place="memory", full=4)
    yield litepress(case, "generate", keyed(ASCENDING))


def pages():
    case = "composite/page-size"
    for size in (4096, 16_384, 65_536):
        title = f"pages of {size:,} bytes"
        same = {"at": size, "verify": functools.partial(verify_and, size, verify_keyed)}
        yield rust(case, title, f"rows sorted page={size}", reference=size == 4096, **same)
        pages = keyed(ASCENDING, first=f"PRAGMA page_size = {size};\n")
        yield litepress(case, f"{IN_MEMORY}, {title}", pages, place="memory", full=4, **same)


def caches():
    """SQLITE_DEFAULT_PCACHE_INITSZ is set at compile time; SQLITE_CONFIG_PAGECACHE also allocates all pages at once."""
    case = "composite/page-cache"
    yield rust(case, f"{ORDER}, a page at a time", "rows sorted", reference=True)
    yield rust(
        case, f"{ORDER}, all pages at once", lambda setting: f"rows sorted cache-at-once={setting.rows // 30 + 100}",
        after=in_rust(case, f"{ORDER}, a page at a time"),
        note="SQLITE_CONFIG_PAGECACHE: for this SQLite SQLITE_DEFAULT_PCACHE_INITSZ has no effect.",
    )  # fmt: skip
    for cache in (500, 100_000):
        yield rust(case, f"{NO_ORDER}, cache_size = {cache}", f"rows cache={cache}", place="disk", at=cache)
    yield litepress(case, f"{IN_MEMORY}, {ORDER}", keyed(ASCENDING), place="memory", full=4)
    yield litepress(case, f"generate, {NO_ORDER}", keyed(SHUFFLED))


def long_texts():
    case = "composite/long-texts"
    for length in LENGTHS:
        rows = 50_000_000 // length
        same = {"at": length, "verify": functools.partial(verify_long, length)}
        for title, word in (("bound", "text"), ("incremental BLOB I/O", "blob")):
            yield rust(
                case, f"{title}, {length:,} bytes", f"{word}={length}", rows, **same,
                reference=(word, length) == ("text", LENGTHS[0]),
                note="The values are blobs of the same bytes: a handle leaves the type as it is." if word == "blob" else "",
            )  # fmt: skip
        yield litepress(case, f"{IN_MEMORY}, {length:,} bytes", long_text(length), rows=rows, place="memory", full=5, **same)


def long_text(length):
    """Returns a schema of texts that repeat the alphabet, each starting one letter later."""
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    some = alphabet * min(1000, length // len(alphabet) + 2)
    many = "x" * (length // len(some) + 2)

    def schema(_rows):
        return (
            "CREATE TABLE long (\n  id INTEGER PRIMARY KEY,\n"
            f"  body TEXT NOT NULL -- gen: substr(replace('{many}', 'x', '{some}'), (id - 1) % 26 + 1, {length})\n);\n"
        )

    return schema


def snapshots():
    case = "composite/snapshot"
    insert = WITHOUT_ROWID
    yield rust(case, insert, "rows sorted without-rowid", reference=True, note=IN_MEMORY)
    yield rust(
        case, "VACUUM INTO a file", "vacuum-into", 500_000, place="disk", safe=False, full=4,
        note="Of a database in memory, filled before the clock starts.",
    )  # fmt: skip
    for title, word in (("backup API, from a snapshot", "backup"), ("sqlite3_deserialize, from a snapshot", "deserialize")):
        yield rust(
            case, title, lambda setting, word=word: f"{word}={setting.folder / 'snapshot.db'}", 500_000, full=4,
            after=in_rust(case, insert), note="The file is made before the clock starts, and lies in the page cache.",
        )  # fmt: skip
    schema = keyed(ASCENDING, options=" WITHOUT ROWID")
    yield litepress(case, f"generate, {WITHOUT_ROWID}", schema)
    yield litepress(case, f"{IN_MEMORY}, {WITHOUT_ROWID}", schema, place="memory", full=4)


def writers():
    """SQLite has BEGIN CONCURRENT on a branch; Turso's rewrite has it in its releases."""
    case = "composite/writers"
    turso = functools.partial(program, lambda: toolchains.built_apart("turso-benchmarks"))
    alone, one = "Turso, BEGIN, 1 writer", "Turso, BEGIN CONCURRENT, 1 writer"
    for title, method, count, after in (
        (alone, "alone", 1, None), (one, "concurrent", 1, alone),
        ("Turso, BEGIN CONCURRENT, 2 writers", "concurrent", 2, one), ("Turso, BEGIN CONCURRENT, 4 writers", "concurrent", 4, one),
    ):  # fmt: skip
        yield Benchmark(
            case, "Rust", title, "memory", turso(f"{method} writers={count}"), ("turso",), 20_000, 200_000, False, at=count,
            reference=title == alone, after=after and in_rust(case, after),
            note="Four tables, 1,000 rows a transaction, rows in the order of the key.",
        )  # fmt: skip
    yield litepress(case, IN_MEMORY, four_tables, place="memory", full=4)


def four_tables(rows):
    """Returns a schema of the four tables that Turso's writers fill, each with a quarter of the rows."""
    stretch = -(-rows // TABLES)
    return "".join(keyed(f"sequence({table * stretch})", name=f"keyed{table}")(rows) for table in range(TABLES))


BENCHMARKS = [*keys(), *transactions(), *pages(), *caches(), *long_texts(), *snapshots(), *writers()]

ABSENT = [
    Absent(
        "composite/key", f"a profile of {NO_ORDER}", Published("composite", f"{what}: {share} % of the first try's time", ROWS, FIRST_TRY * share / 100),
        "A share of a profile is not a method: the function that it names is part of the benchmark's time.",
    )
    for what, share in (("memcpy_repmovs", 75), ("sqlite3BtreeMovetoUnpacked", 97))
]
ABSENT += [
    Absent(
        "composite/key", f"a profile of {ORDER}",
        Published("composite", "memcpy: 15 % of the time in the order of the key", ROWS, FIRST_TRY / 1.8 * 0.15),
        "As above. The rest is malloc, the subject of the case of the page cache.",
    )
]  # fmt: skip
