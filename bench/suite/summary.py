"""Prints a run in a few lines: of each case the fastest benchmarks, the rank of litepress, the ceiling."""

TOP = 3


def show(line):
    for case in line["cases"]:
        of_case = [benchmark for benchmark in line["benchmarks"] if benchmark["case"] == case["name"]]
        for place in ("disk", "memory"):
            if benchmarks := [benchmark for benchmark in of_case if benchmark["place"] == place]:
                print(f"\n{case['name']}, {place}: {case['title']}")
                print("\n".join(lines(benchmarks)))
    print()
    for kind in ("skipped", "failed"):
        if line[kind]:
            print(f"{kind}: {len(line[kind])}")
            for one in line[kind]:
                print(f"  {one['name']}: {one['why']}")
    minutes = line["elapsed_seconds"] / 60
    print(f"{len(line['benchmarks'])} benchmarks measured in {minutes:.1f} minutes")


def lines(benchmarks):
    """Yields the fastest by rows a second, litepress and the reference at any rank, and the ceiling of the first."""
    ranked = sorted(benchmarks, key=lambda benchmark: -benchmark["rows_per_second"])
    for rank, benchmark in enumerate(ranked, 1):
        if rank <= TOP or benchmark["language"] == "litepress" or benchmark["reference"]:
            name = f"{benchmark['language']}, {benchmark['method']}"
            yield f"{rank:4}. {name:60.60}{benchmark['rows_per_second']:15,.0f} rows/s{faster(benchmark)}"
    if ceiling := ranked[0]["ceiling_seconds"]:
        speed = ranked[0]["rows"] / ceiling
        what = "the same bytes written raw" if ranked[0]["place"] == "disk" else "the same bytes copied once"
        yield f"      {what:60}{speed:15,.0f} rows/s"


def faster(benchmark):
    if benchmark["reference"]:
        return "   the reference"
    return f"   {1 / benchmark['ratio']['median']:,.1f} times the reference" if benchmark["ratio"] else ""
