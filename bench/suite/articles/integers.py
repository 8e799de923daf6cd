"""Integers and beyond: the cost of SQLite's own design, one column of integers at a time, in C.

The article gives rows a second. If it names no number of rows, a figure here is the rows of one second. The factors of its
table of unrolled statements refer to its 2,701,000 rows a second for one row a statement. The file sizes in two of its
tables, 9 to 17 bytes a row, are those of 100 million rows.
"""

import functools

from suite import generated, toolchains
from suite.generated import IN_MEMORY, MADE_IN_MEMORY, MADE_MEANWHILE
from suite.benchmark import Absent, Case, Published, Benchmark, Wrong, expect, expect_near, verify_and

TITLE = "Integers and beyond: one column, method by method, in C"
SOURCE = "an article of 2023-09-25 on how fast rows with bound data can be inserted, and what is in your control"

BILLION = 10**9
ONE_ROW_A_STATEMENT = 2_701_000

UNSAFE = "no journal, no sync"
EVENLY = MADE_MEANWHILE + " The values are those of the other benchmarks, ascending, repeated if there are fewer values than rows."


def published(label, speed, rows=None, size=None):
    """Returns a figure in rows a second, with the rows and bytes that the article names."""
    rows = rows or round(speed)
    return (Published("integers", label, rows, rows / speed, size),)


# Checks.

VALUES = "count(*), min(value), max(value), sum(value >> 32), sum(value & 4294967295)"
"""Sums both halves of 64-bit numbers, because the sum of whole numbers overflows SQLite's integers."""


def facts(rows, least, most, total):
    """Returns the row of `VALUES`, with both halves of the sum joined."""
    return rows, least, most, total


def joined(row):
    count, least, most, high, low = row[:5]
    return count, least, most, (high << 32) + low


def spacing(rows, bits):
    """Returns first value, last value and step of values spread evenly over the range of `bits` bits.

    More rows than values repeat them.
    """
    different = min(rows, 2**bits)
    step = max(1, (2**bits - 1) // rows)
    return -(2 ** (bits - 1)), -(2 ** (bits - 1)) + (different - 1) * step, step


def spread(rows, bits):
    """Returns the facts of evenly spread values."""
    least, most, step = spacing(rows, bits)
    whole, rest = divmod(rows, 2**bits)
    ranks = whole * (2**bits * (2**bits - 1) // 2) + rest * (rest - 1) // 2
    return facts(rows, least, most, rows * least + step * ranks)


def verify_spread(bits, row, rows):
    expect(joined(row), spread(rows, bits))


verify_32 = functools.partial(verify_spread, 32)


def verify_keys(row, rows):
    """Checks the keys 1 to `rows`, each once: keys are unique, so that only these have this sum."""
    expect(joined(row), facts(rows, 1, rows, rows * (rows + 1) // 2))


def verify_same(value, row, rows):
    expect(joined(row), facts(rows, value, value, rows * value))


def verify_bools(row, rows):
    expect(joined(row), facts(rows, 0, min(1, rows - 1), rows // 2))


def verify_indexed(row, rows):
    """Checks the sums of the table, and that the index has as many entries."""
    expect(row[5:], [rows])
    verify_spread(32, row, rows)


# Benchmarks in C.


def program(name, method):
    def command(setting):
        target = setting.target
        check = [setting.check] if target == ":memory:" else []
        return [toolchains.BUILT / "c" / name, method, target, setting.rows, *check]

    return command


def c(case, title, method, rows, *, name="integers", place="disk", full=5, **more):
    """Returns a benchmark of a program in C with `rows` rows, and `full` times as many in a full run."""
    safe = place == "disk" and "unsafe" not in method.split()
    more = {"safe": safe, "needs": ("c",), "rows": rows, "full_rows": full * rows} | more
    return Benchmark(case, "C", title, place, program(name, method), **more)


def in_c(case, title, place="disk"):
    """Returns the name of a benchmark in C."""
    return f"{case}/C/{title}/{place}"


# Benchmarks of litepress.


litepress = functools.partial(generated.benchmark, full=5, note=EVENLY)


def table(generator, column="value INTEGER", options="", rest=""):
    """Returns a schema of the one table; `generator` may depend on the number of rows."""
    def schema(rows):
        text = generator if isinstance(generator, str) else generator(rows)
        return f"CREATE TABLE integers (\n  {column} -- gen: {text}\n){options};\n{rest}"

    return schema


def evenly(bits):
    def generator(rows):
        least, most, step = spacing(rows, bits)
        return f"repeat({least}, {most}, step={min(step, 2**63 - 1)})"

    return generator


# The tables of the article: each is a case.


def methods():
    case = "integers/methods"
    benchmark = functools.partial(c, case)
    reused, unrolled = "reused statement", "20 rows a statement"
    yield benchmark(
        "a transaction a row", "transactions", 50, safe=True,
        published=published("Separate transaction per row", 429),
        note="Each row waits for the disk: few rows.",
    )  # fmt: skip
    yield benchmark(
        "a statement a row", "statements", 200_000, after=in_c(case, "a transaction a row"),
        published=published("One transaction, separate statement per row", 522_000),
    )  # fmt: skip
    yield benchmark(
        reused, "unrolled=1", 1_000_000, reference=True, after=in_c(case, "a statement a row"),
        published=published("One transaction, reused statement", 2_457_000)
        + published("bound params, one row per insert", ONE_ROW_A_STATEMENT),
    )  # fmt: skip
    yield benchmark(
        unrolled, "unrolled=20", 2_000_000, after=in_c(case, reused),
        published=published("bound params, unrolled insert", 7_553_000),
    )  # fmt: skip
    yield benchmark("carray", "carray", 2_000_000, after=in_c(case, unrolled), published=published("carray", 7_968_000))
    yield benchmark(
        f"carray, {UNSAFE}", "carray unsafe", 2_000_000, after=in_c(case, "carray"),
        published=published("carray with unsafe PRAGMAs", 9_960_000),
    )  # fmt: skip
    yield benchmark(
        "copy of an attached database", "copy", 2_000_000,
        published=published("ATTACH DATABASE (reference)", 10_684_000, BILLION),
        note="The source is made before the clock.",
    )  # fmt: skip
    yield benchmark(
        "copy of an attached database, SELECT *", "copy-rows", 3_000_000, after=in_c(case, "copy of an attached database"),
        note="SQLite copies whole rows where the tables are alike and all columns are asked for; the article names one.",
    )  # fmt: skip
    for method, words in ((reused, "unrolled=1"), (unrolled, "unrolled=20"), ("carray", "carray")):
        yield benchmark(method, words, 2_000_000, place="memory")
    yield Benchmark(
        case, "C", "random numbers into an array", "none", program("integers", "alone"), needs=("c",), rows=20_000_000,
        full_rows=200_000_000, safe=True, published=published("random values into an array", 362_000_000),
        note="No database: xorshift of 64 bits.",
    )  # fmt: skip
    yield litepress(case, "generate", table(evenly(32)), 4_000_000)
    yield litepress(case, IN_MEMORY, table(evenly(32)), 4_000_000, place="memory", note=MADE_IN_MEMORY)


WIDTHS = (
    ("all zeros", "zeros", 0, 9_341_000, 0.90, "constant(0)", functools.partial(verify_same, 0)),
    ("all ones", "ones", 0, 9_508_000, 0.90, "constant(1)", functools.partial(verify_same, 1)),
    *(
        (f"int{bits}", f"int{bits}", bits // 8, speed, size, evenly(bits), functools.partial(verify_spread, bits))
        for bits, speed, size in ((8, 8_605_000, 1.00), (16, 8_743_000, 1.10), (32, 7_952_000, 1.32), (64, 7_294_000, 1.71))
    ),
)
"""Title, the program's word, bytes of a value in the record (0 and 1 take none), rows a second and GB of the article's file,
litepress's generator, check."""


def widths():
    case = "integers/widths"
    for title, word, size, speed, gigabytes, generator, verify in WIDTHS:
        figure = published(f"Integer size: {title}", speed, 10**8, round(gigabytes * 1e9))
        reference = word == "int32"
        yield c(
            case, f"carray, {title}", f"carray values={word}", 2_000_000, at=size, published=figure, reference=reference,
            verify=verify,
        )  # fmt: skip
        yield litepress(case, f"generate, {title}", table(generator), 4_000_000, at=size, verify=verify)


def bools():
    case, rows = "integers/bools", 2 * BILLION
    figure = functools.partial(published, rows=rows)
    yield c(
        case, "20 rows a statement", "unrolled=20 values=bools", 2_000_000, reference=True,
        published=figure("Bools: bound params, unrolled insert", 8_638_000),
    )  # fmt: skip
    yield c(
        case, "carray", "carray values=bools", 2_000_000, after=in_c(case, "20 rows a statement"),
        published=figure("Bools: carray", 10_409_000),
    )  # fmt: skip
    yield c(
        case, f"carray, {UNSAFE}", "carray values=bools unsafe", 2_000_000, after=in_c(case, "carray"),
        published=figure("Bools: carray, unsafe PRAGMAs", 10_577_000)
        + published("Bools: 635 million rows a minute", 635e6 / 60, 635_000_000),
    )  # fmt: skip
    yield litepress(case, "generate", table("repeat(0, 1)"), 4_000_000, note=MADE_MEANWHILE)


def unrolling():
    case, note = "integers/unrolling", "The article has factors only, here of its 2,701,000 rows/s for one row a statement."
    for at_once, factor in ((1, 1.00), (5, 1.95), (10, 2.30), (20, 2.47), (50, None), (200, None)):
        title = f"{at_once} {'row' if at_once == 1 else 'rows'} a statement"
        figure = published(f"Unroll degree {at_once}: {factor:.2f}x", factor * ONE_ROW_A_STATEMENT) if factor else ()
        yield c(case, title, f"unrolled={at_once}", 1_000_000, at=at_once, reference=at_once == 1, published=figure, note=note)
    yield litepress(case, "generate", table(evenly(32)), 4_000_000)


def safety():
    case = "integers/safety"
    figure = functools.partial(published, rows=10**8)
    safe = "20 rows a statement"
    yield c(
        case, safe, "unrolled=20", 2_000_000, reference=True, published=figure("100M 32-bit integers, safe", 5_845_000),
        note="The article does not name the method of its table.",
    )  # fmt: skip
    yield c(
        case, f"{safe}, {UNSAFE}", "unrolled=20 unsafe", 2_000_000, after=in_c(case, safe),
        published=figure("100M 32-bit integers, unsafe", 6_435_000),
    )  # fmt: skip
    yield litepress(case, "generate", table(evenly(32)), 4_000_000)


def text_safety():
    case = "integers/safety-of-texts"
    figure = functools.partial(published, rows=10**6)
    safe = "20 rows a statement"
    benchmark = functools.partial(c, case, name="texts", full=10)
    yield benchmark(
        safe, "length=1000", 50_000, reference=True, published=figure("1M 1k strings, safe", 278_000),
        note="The article does not name the method of its table.",
    )  # fmt: skip
    yield benchmark(
        f"{safe}, {UNSAFE}", "length=1000 unsafe", 50_000, after=in_c(case, safe),
        published=figure("1M 1k strings, unsafe", 617_000),
    )  # fmt: skip
    yield litepress(case, "generate", texts(1000), 50_000, note=MADE_MEANWHILE, full=10)


def array_sizes():
    """Yields benchmarks with a thousandth, a hundredth, a tenth, and all of the rows in a statement."""
    case = "integers/carray"
    rows = 2_000_000
    for parts, speed in ((1000, 7_156_000), (100, 7_912_000), (10, 8_601_000), (1, 9_310_000)):
        def command(setting, parts=parts):
            return program("integers", f"carray={max(1, setting.rows // parts)}")(setting)

        title = f"carray, 1/{parts} of the rows a statement" if parts > 1 else "carray, all rows in a statement"
        yield Benchmark(
            case, "C", title, "disk", command, needs=("c",), rows=rows, full_rows=10 * rows, safe=True, at=1 / parts,
            reference=parts == 1000, published=published(f"{BILLION // parts:,} rows per statement", speed, BILLION),
            note="" if parts == 1 else f"The article's {BILLION // parts:,} of a billion rows.",
        )  # fmt: skip
    yield litepress(case, "generate", table(evenly(32)), 4_000_000)


def user_keys():
    case = "integers/table-types"
    for title, word, speed, megabytes, kind, column, options in (
        ("rowid table", "rowid", 8_757_000, 1331, 0, "value INTEGER", ""),
        ("INTEGER PRIMARY KEY", "key", 4_248_000, 861, 1, "value INTEGER PRIMARY KEY", ""),
        ("INT PRIMARY KEY, WITHOUT ROWID", "without-rowid", 3_108_000, 974, 3, "value INT PRIMARY KEY", " WITHOUT ROWID"),
    ):
        verify = functools.partial(verify_and, kind, verify_keys)
        figure = published(f"User keys: {title}", speed, 10**8, megabytes * 10**6)
        method = f"carray values=keys order=sequential table={word}"
        yield c(case, title, method, 2_000_000, reference=word == "rowid", published=figure, verify=verify)
        yield litepress(case, f"generate, {title}", table("sequence", column, options), 4_000_000, verify=verify)


def automatic_keys():
    case = "integers/automatic-keys"
    for title, word, speed, kind, key in (
        ("rowid", "rowid", 8_183_000, 0, ""),
        ("INTEGER PRIMARY KEY", "automatic", 8_224_000, 1, "id INTEGER PRIMARY KEY,\n  "),
        ("AUTOINCREMENT", "autoincrement", 7_784_000, 5, "id INTEGER PRIMARY KEY AUTOINCREMENT,\n  "),
    ):
        verify = functools.partial(verify_and, kind, verify_32)
        figure = published(f"Automatic keys: {title}", speed)
        yield c(case, title, f"carray table={word}", 2_000_000, reference=word == "rowid", published=figure, verify=verify)
        yield litepress(case, f"generate, {title}", table(evenly(32), f"{key}value INTEGER"), 4_000_000, verify=verify)


GROWTH = (10**5, 10**6, 4 * 10**6)
"""Numbers of rows: the article charts the cost of random keys until the table is much larger than the cache."""


def key_order():
    case = "integers/key-order"
    for title, word, speed in (
        ("sequential", "sequential", 3_030_000),
        ("reversed", "reversed", 1_534_000),
        ("shuffled", "shuffled", 161_000),
        ("outside-in", "outside-in", 1_458_000),
        ("inside-out", "inside-out", 1_529_000),
        ("odds, then evens", "odds-evens", 2_857_000),
        ("odds, then evens, reversed", "evens-odds", 1_488_000),
        ("sawtooth", "sawtooth", 1_116_000),
    ):
        yield c(
            case, title, f"carray values=keys table=key order={word}", 500_000, reference=word == "sequential",
            full=4, growth=GROWTH if word in ("sequential", "shuffled") else (),
            published=published(f"Key order: {title}", speed),
            note="The article does not say what kind of key: INTEGER PRIMARY KEY here.",
        )  # fmt: skip
    for title, generator in (
        ("sequential", "sequence"), ("reversed", lambda rows: f"sequence({rows}, -1)"), ("shuffled", "shuffle"),
    ):  # fmt: skip
        keyed = table(generator, "value INTEGER PRIMARY KEY")
        yield litepress(case, f"generate, {title}", keyed, 500_000, note=MADE_MEANWHILE, full=4, growth=GROWTH)


def page_cache():
    for case, order, full, generator, speeds in (
        ("integers/cache-sequential", "sequential", 4, "sequence", (4_202_000, 4_292_000, 4_348_000)),
        ("integers/cache-random", "shuffled", 8, "shuffle", (306_000, 400_000, 988_000)),
    ):
        for pages, speed in zip((2000, 4000, 2_000_000), speeds):
            yield c(
                case, f"cache_size = {pages}", f"carray values=keys table=key order={order} cache={pages}", 500_000,
                full=full, at=pages, reference=pages == 2000,
                published=published(f"Page cache of {pages}, {order}", speed),
                note="In a small run the whole table fits into 2,000 pages, so the three are alike; a full run's is twice as large as 4,000 pages." if order == "shuffled" else "",
            )  # fmt: skip
        keyed = table(generator, "value INTEGER PRIMARY KEY")
        yield litepress(case, "generate", keyed, 500_000, note=MADE_MEANWHILE, full=full)


def indexes():
    case = "integers/index"
    before, after, presorted = "index before the rows", "index after the rows", "index before the rows, which are sorted"
    yield c(
        case, before, "carray index=before", 300_000, full=4, reference=True,
        published=published("Index before", 293_000),
    )  # fmt: skip
    yield c(
        case, after, "carray index=after", 300_000, full=4, after=in_c(case, before),
        published=published("Index after", 963_000),
    )  # fmt: skip
    yield c(
        case, presorted, "carray index=sorted", 300_000, full=4, after=in_c(case, before),
        published=published("Index before, with sorting in application", 2_123_000),
        note="The clock runs while the program sorts.",
    )  # fmt: skip
    index = "CREATE INDEX integers_value ON integers (value);\n"
    yield litepress(case, "generate", table(shuffled, rest=index), 300_000, full=4, note=MADE_MEANWHILE)


def shuffled(rows):
    """Returns a generator of the same values in random order."""
    least, _, step = spacing(rows, 32)
    return f"shuffle(0, {rows - 1}) * {step} + {least}"


LENGTHS = {
    4: 7_874_000, 16: 6_993_000, 32: 5_208_000, 64: 3_704_000, 128: 2_342_000, 256: 1_610_000, 512: 1_047_000,
}  # fmt: skip
COLUMNS = {1: 221_000, 2: 234_000, 4: 248_000, 8: 206_000, 16: 184_000}
ROW = 1024
"""Characters of all columns together."""

FURTHER = [f"c{number}" for number in range(2, max(COLUMNS) + 1)]
ALL = " || ".join(["c1", *FURTHER])
TEXTS = f"""
WITH absent AS (SELECT {", ".join(f"'' AS {column}" for column in FURTHER)})
SELECT count(*), (SELECT count(*) FROM pragma_table_info('texts')), min(length(c1)), max(length(c1)),
  (SELECT sum(length({ALL})) FROM texts),
  (SELECT total(CASE WHEN rowid % 16 = 1 THEN {ALL} GLOB '*[^0-9a-f]*' END) FROM texts), min(c1) < max(c1)
FROM texts, absent
"""
"""Checks the characters of every sixteenth row: checking all takes longer than filling the table."""


def texts(length, columns=1):
    """Returns a schema of `columns` columns of hexadecimal digits."""
    names = [f"c{number}" for number in range(1, columns + 1)]

    def schema(_rows):
        lines = [f"  {name} TEXT{',' if name != names[-1] else ''} -- gen: hex({length})\n" for name in names]
        return f"CREATE TABLE texts (\n{''.join(lines)});\n"

    return schema


def verify_texts(columns, length, row, rows):
    *found, differ = row
    expect(found, (rows, columns, length, length, rows * columns * length, 0))
    if rows > 1 and not differ:
        raise Wrong("all texts are the same")


def text_lengths():
    case = "integers/text-length"
    for length, speed in LENGTHS.items():
        rows = 1_000_000 if length <= 64 else 200_000
        same = {"full": 5, "at": length, "verify": functools.partial(verify_texts, 1, length)}
        yield c(
            case, f"{length} characters", f"length={length}", rows, name="texts", reference=length == 4,
            published=published(f"String size {length}", speed), **same,
        )  # fmt: skip
        yield litepress(case, f"generate, {length} characters", texts(length), rows, note=MADE_MEANWHILE, **same)


def column_counts():
    case = "integers/columns"
    for columns, speed in COLUMNS.items():
        length = ROW // columns
        title = f"{columns} {'column' if columns == 1 else 'columns'} of {length} characters"
        same = {"full": 10, "at": columns, "verify": functools.partial(verify_texts, columns, length)}
        yield c(
            case, title, f"length={length} columns={columns}", 50_000, name="texts", reference=columns == 1,
            published=published(f"{columns} x {length} chars", speed), **same,
        )  # fmt: skip
        yield litepress(case, f"generate, {title}", texts(length, columns), 50_000, note=MADE_MEANWHILE, **same)


USER = """CREATE TABLE user (
  id INTEGER not null primary key,
  area CHAR(6), -- gen: {}
  age INTEGER not null, -- gen: {}
  active INTEGER not null -- gen: {}
);
"""
USERS = (
    "SELECT count(*), min(id), max(id), sum(area NOT GLOB '[0-9][0-9][0-9][0-9][0-9][0-9]'), sum(age NOT IN (5, 10, 15)), "
    "sum(active NOT IN (0, 1)), sum(area = '123456'), sum(age), sum(active) FROM user"
)


def verify_constant(row, rows):
    expect(row, [rows, 1, rows, 0, 0, 0, rows, 5 * rows, 0])


def verify_random(row, rows):
    """Checks the sums of ages and flags, whose standard deviations are 4.1 and 0.5."""
    expect(row[:6], [rows, 1, rows, 0, 0, 0])
    _, ages, actives = row[6:]
    expect_near("sum of ages", ages, 10 * rows, 4.1 * rows**0.5)
    expect_near("sum of flags", actives, rows / 2, 0.5 * rows**0.5)


def mixed():
    case = "integers/mixed-constant"
    large = "PRAGMA cache_size = 1000000: the article made the cache larger, and does not say how large."
    for title, word, safe, unsafe in (
        ("no parameters", "literal", 6_130_000, 7_673_000), ("parameters", "constant", 3_732_000, 4_307_000),
    ):  # fmt: skip
        label = "Constant data, no binding" if word == "literal" else "Constant data, bound"
        yield c(
            case, title, word, 1_000_000, name="user", reference=word == "constant", note=large,
            published=published(label, safe, 10**8),
        )  # fmt: skip
        yield c(
            case, f"{title}, {UNSAFE}", f"{word} unsafe", 1_000_000, name="user", after=in_c(case, title), note=large,
            published=published(f"{label}, unsafe", unsafe, 10**8),
        )  # fmt: skip
    fixed = USER.format("constant('123456')", "constant(5)", "constant(0)")
    yield litepress(case, "generate", lambda _rows: fixed, 5_000_000, note=MADE_MEANWHILE)
    case = "integers/mixed-random"
    yield c(
        case, "parameters", "random", 1_000_000, name="user", reference=True, note=large,
        published=published("Random data, bound", 2_851_000, 10**8),
    )  # fmt: skip
    yield c(
        case, f"parameters, {UNSAFE}", "random unsafe", 1_000_000, name="user", after=in_c(case, "parameters"), note=large,
        published=published("Random data, bound, unsafe", 3_258_000, 10**8),
    )  # fmt: skip
    drawn = USER.format("digits(6)", "choice(5, 10, 15)", "int(0, 1)")
    yield litepress(case, "generate", lambda _rows: drawn, 5_000_000, note=MADE_MEANWHILE)


OF_VALUES = f"SELECT {VALUES} FROM integers"
KIND = " + ".join(f"{bit} * (sql LIKE '%{words}%')" for bit, words in ((1, "PRIMARY KEY"), (2, "WITHOUT ROWID"), (4, "AUTOINCREMENT")))
OF_TABLE = f"SELECT {VALUES}, (SELECT {KIND} FROM sqlite_schema WHERE name = 'integers') FROM integers"
"""Also returns the kind of table as three bits."""
OF_INDEX = f"SELECT {VALUES}, (SELECT count(*) FROM integers INDEXED BY integers_value WHERE value IS NOT NULL) FROM integers"

CASES = [
    Case("integers/methods", "32 bit integers: how rows are inserted", OF_VALUES, verify_32),
    Case("integers/widths", "Integers by their size", OF_VALUES, verify_32, "bytes of a value"),
    Case("integers/bools", "Zeros and ones", OF_VALUES, verify_bools),
    Case("integers/unrolling", "32 bit integers: rows a statement", OF_VALUES, verify_32, "rows a statement"),
    Case("integers/carray", "32 bit integers: share of the rows in one array", OF_VALUES, verify_32, "share of the rows in a statement"),
    Case("integers/safety", "32 bit integers: journal and sync, or none", OF_VALUES, verify_32),
    Case(
        "integers/safety-of-texts", "Texts of 1,000 characters: journal and sync, or none", TEXTS,
        functools.partial(verify_texts, 1, 1000),
    ),
    Case("integers/table-types", "The user's key: kinds of table", OF_TABLE, verify_keys),
    Case("integers/automatic-keys", "SQLite's key: kinds of it", OF_TABLE, verify_32),
    Case("integers/key-order", "Keys in eight orders", OF_VALUES, verify_keys),
    Case("integers/cache-sequential", "Keys in order: pages of cache", OF_VALUES, verify_keys, "pages of cache"),
    Case("integers/cache-random", "Keys in random order: pages of cache", OF_VALUES, verify_keys, "pages of cache"),
    Case("integers/index", "Random integers with an index", OF_INDEX, verify_indexed),
    Case("integers/text-length", "Texts by their length", TEXTS, functools.partial(verify_texts, 1, min(LENGTHS)), "characters of a text"),
    Case("integers/columns", "1,024 characters in one to sixteen columns", TEXTS, functools.partial(verify_texts, 1, ROW), "columns"),
    Case("integers/mixed-constant", "The user table: the same row all over", USERS, verify_constant),
    Case("integers/mixed-random", "The user table: random rows", USERS, verify_random),
]  # fmt: skip

BENCHMARKS = [
    *methods(), *widths(), *bools(), *unrolling(), *array_sizes(), *safety(), *text_safety(), *user_keys(), *automatic_keys(),
    *key_order(), *page_cache(), *indexes(), *text_lengths(), *column_counts(), *mixed(),
]  # fmt: skip

ABSENT = [
    Absent(
        "integers/methods", "raw writes to the disk", Published("integers", "SSD, sustained writes (bytes a second, not rows)", 454 << 20, 1.0),
        "It is not a database: the raw write of each case is the ceiling beside its figures.",
    ),
    Absent(
        "integers/methods", "integer rows in bytes", Published("integers", "integer rows (bytes a second, not rows)", 40 << 20, 1.0),
        "It is the figure of the copy between two databases in another unit: four bytes a row.",
    ),
    Absent(
        "integers/mixed-random", "the best program of the user article",
        Published("integers", "best of the user article's repository, unsafe", 10**8, 10**8 / 4_300_000),
        "A program of another article on another machine: the case `user` has it.",
    ),
]  # fmt: skip
