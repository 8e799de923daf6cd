"""A run in a few lines of the terminal: of each case the fastest rungs, litepress's place, the ceiling."""

TOP = 3


def show(line):
    for case in line["cases"]:
        of_case = [rung for rung in line["rungs"] if rung["case"] == case["name"]]
        for place in ("disk", "memory"):
            if rungs := [rung for rung in of_case if rung["place"] == place]:
                print(f"\n{case['name']}, {place}: {case['title']}")
                print("\n".join(lines(rungs)))
    print()
    for kind in ("skipped", "failed"):
        if line[kind]:
            print(f"{kind}: {len(line[kind])}")
            for one in line[kind]:
                print(f"  {one['name']}: {one['why']}")
    minutes = line["elapsed_seconds"] / 60
    print(f"{len(line['rungs'])} rungs measured in {minutes:.1f} minutes")


def lines(rungs):
    """The fastest by rows a second, litepress and the reference wherever they stand, and the ceiling of the first."""
    ranked = sorted(rungs, key=lambda rung: -rung["rows_per_second"])
    for rank, rung in enumerate(ranked, 1):
        if rank <= TOP or rung["language"] == "litepress" or rung["reference"]:
            yield f"{rank:4}. {rung['language'] + ', ' + rung['method']:60.60}{rung['rows_per_second']:15,.0f} rows/s{faster(rung)}"
    if ceiling := ranked[0]["ceiling_seconds"]:
        speed = ranked[0]["rows"] / ceiling
        what = "the same bytes written raw" if ranked[0]["place"] == "disk" else "the same bytes copied once"
        yield f"      {what:60}{speed:15,.0f} rows/s"


def faster(rung):
    if rung["reference"]:
        return "   the reference"
    return f"   {1 / rung['ratio']['median']:,.1f} times the reference" if rung["ratio"] else ""
