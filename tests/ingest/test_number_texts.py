"""Numbers are what their texts say, exactly, however they are spelled, or their rows are bad."""

from __future__ import annotations

from decimal import Decimal as Number
from decimal import localcontext
from random import Random

import pytest
from pyspark.sql import SparkSession

from ingest.ingest_lake import SmallLake
from ingest.test_values import outcomes
from lakebed.model import Decimal, Field, Int8, Int32, Int64, List, LogicalType, Option, Struct, UInt64

RANGE, DIGITS, MALFORMED = "LB6203", "LB6204", "LB6202"


def spelled(random: Random) -> str:
    """A number of up to 45 digits with a point or an exponent somewhere."""
    digits = "".join(random.choice("0001239") for _ in range(random.randint(1, random.choice((3, 20, 45)))))
    point = random.randint(0, len(digits))
    power = random.choice(("", "", f"e{random.randint(-45, 45)}", f"E+{random.randint(0, 40)}"))
    body = f"{digits[:point]}.{digits[point:]}" if random.random() < 0.7 else digits
    return random.choice(("", "-", "+")) + body + power


def with_great_exponents() -> dict[str, Number | str]:
    """Numbers whose zeros nobody writes out, and what becomes of them, whatever the column."""
    found: dict[str, Number | str] = {}
    for power in (99, 100, 400, 99_999, 999_999_999, 2**31 - 1, 2**31, 10**12, 2**63, 10**25):
        found |= {f"1e{power}": RANGE, f"-9.9E+{power:030}": RANGE, f"{'7' * 60}e{power}": RANGE}
        found |= {f"1e-{power}": DIGITS, f" -0.9E-{power:030} ": DIGITS, f"{'7' * 60}e-{power}": DIGITS}
        found |= {
            f"0e{power}": Number(0),
            f"-0.00E-{power}": Number(0),
            f".e-{power}": MALFORMED,
            f"1.2.3e-{power}": MALFORMED,
        }
    return found


def expected(text: str, least: int, most: int, scale: int) -> set[Number | str]:
    """The number, or what may be said to be wrong with it."""
    with localcontext() as context:
        context.prec = 200
        number = Number(text) * Number(10) ** scale
        # The range is that of the rounded number, as in a column of decimals.
        rounded = number.to_integral_value("ROUND_HALF_UP")
        wrong = {RANGE: not least <= rounded <= most, DIGITS: rounded != number}
        return {code for code, holds in wrong.items() if holds} or {rounded / Number(10) ** scale}


@pytest.mark.parametrize(
    ("type_", "least", "most", "scale"),
    [
        (Int8(), -128, 127, 0),
        (Int64(), -(2**63), 2**63 - 1, 0),
        (UInt64(), 0, 2**64 - 1, 0),
        (Decimal(5, 2), -99999, 99999, 2),
        (Decimal(38, 0), 1 - 10**38, 10**38 - 1, 0),
        (Decimal(38, 20), 1 - 10**38, 10**38 - 1, 20),
        (Decimal(38, 38), 1 - 10**38, 10**38 - 1, 38),
    ],
)
def test_every_spelling_is_the_number_or_bad(
    spark: SparkSession, type_: LogicalType, least: int, most: int, scale: int
) -> None:
    random = Random(7)
    texts = [spelled(random) for _ in range(400)] + ["1" + "0" * 1200 + "e-1200", "-0." + "0" * 1200 + "2E1201"]
    wanted = [expected(text, least, most, scale) for text in texts]
    great = with_great_exponents()
    texts, wanted = [*texts, *great], [*wanted, *({outcome} for outcome in great.values())]
    found = [got if not isinstance(got, list) else got[0].split()[1] for got in outcomes(spark, type_, texts)]
    different = [(t, g, w) for t, g, w in zip(texts, found, wanted, strict=True) if g not in w]
    assert different == []
    assert any(isinstance(n, Number) and n for w in wanted for n in w)


def test_whole_columns_take_whole_numbers_of_json_in_any_spelling(lake: SmallLake) -> None:
    inner = Struct((Field("n", Option(Int64())),))
    lake.create(Field("k", Int32()), Field("n", Option(Int64())), Field("s", Option(inner)), Field("l", List(Int64())))
    good = {
        "1.0": 1,
        "1e2": 100,
        "-0.0": 0,
        "123456789012345670e1": 1234567890123456700,
        "1234567890123456789.0": 1234567890123456789,
        "12345678901234567890e-1": 1234567890123456789,
        "1" + "0" * 50 + "e-40": 10**10,
        "0e-999999999": 0,
    }
    bad = {"1.5": DIGITS, "1e-1": DIGITS, "12345678901234567891e-1": DIGITS, "1e19": RANGE, "1e400": RANGE}
    bad |= {"1e999999999": RANGE, "1E-999999999": DIGITS}
    for name, make in (
        ("a.json", lambda k, t: f'{{"k": {k}, "n": {t}, "s": {{"n": {t}}}, "l": [{t}]}}\n'),
        ("a.csv", lambda k, t: f'{k},{t},"{{""n"": {t}}}","[{t}]"\n'),
    ):
        text = "".join(make(k, t) for k, t in enumerate([*good, *bad]))
        lake.ingest(lake.file(name, text if name == "a.json" else "k,n,s,l\n" + text))
    rows = lake.rows(order="k")
    assert [(r["n"], r["s"]["n"], r["l"]) for r in rows] == [(n, n, [n]) for n in good.values() for _ in range(2)]
    for row in lake.bad():
        codes = [p["code"] for p in row["problems"]]
        place = next(i for i in bad if f" {i}" in row["raw"] or f'"{i}"' in row["raw"])
        assert codes == [bad[place]] * 3, row
    assert len(lake.bad()) == 2 * len(bad)
