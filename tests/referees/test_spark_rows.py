"""Rows of a Spark data frame have the same encoding as those of the referees."""

from referees.comparison import assert_same_rows
from referees.encoding import spark_rows


def test_spark_rows_have_the_agreed_form(spark) -> None:
    frame = spark.sql("""
        select 1 as i, cast(0.1 as float) as f, double('NaN') as n, cast(1.5 as decimal(10, 2)) as d, x'00ff' as b,
               date'1969-12-31' as day, timestamp_ntz'2024-01-01 01:02:03.456789' as naive,
               timestamp'1969-12-31 23:59:59.999999' as instant, 3723004 as time,
               array(struct(1 as x, cast(null as string) as y)) as l, map('b', 1, 'a', 2) as m, cast(null as int) as z
    """)
    expected = [
        1,
        0.1,
        "NaN",
        "1.50",
        "hex:00ff",
        "1969-12-31",
        "2024-01-01T01:02:03.456789000",
        "1969-12-31T23:59:59.999999000Z",
        "01:02:03.004000",
        [[1, None]],
        [["a", 2], ["b", 1]],
        None,
    ]
    kinds = "INT|FLOAT|DOUBLE|DECIMAL(10, 2)|BYTES|DATE|TIMESTAMP(6)|TIMESTAMP(6) WITH LOCAL TIME ZONE|TIME(3)"
    kinds += "|ARRAY<ROW<`x` INT, `y` STRING>>|MAP<STRING, INT>|INT"
    assert_same_rows([expected], spark_rows(frame), list(zip(frame.columns, kinds.split("|"), strict=True)))


def test_the_session_is_small_and_in_utc(spark) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.sql.shuffle.partitions") == "2"
    assert spark.sparkContext.master == "local[2]"
