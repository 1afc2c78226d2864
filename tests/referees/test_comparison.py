"""The comparer says equal exactly when two answers mean the same rows."""

import pytest

from referees.comparison import TypeTree, assert_same_rows


def differs(expected: list, actual: list, *types: str, micros: bool = False) -> bool:
    columns = [(f"c{i}", kind) for i, kind in enumerate(types)] or None
    try:
        assert_same_rows(expected, actual, columns, micros=micros)
    except AssertionError:
        return True
    return False


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("DECIMAL(10, 2) NOT NULL", "DECIMAL"),
        ("TIMESTAMP(6) WITH LOCAL TIME ZONE", "TIMESTAMP"),
        ("ARRAY<INT NOT NULL> NOT NULL", "ARRAY[INT]"),
        (
            "MAP<STRING NOT NULL, ROW<`a, b` DECIMAL(3, 1), c ARRAY<TIME(3)> 'it''s, <a> note'>>",
            "MAP[STRING ROW[DECIMAL ARRAY[TIME]]]",
        ),
        ("ROW<>", "ROW"),
        ("VECTOR<FLOAT, 3>", "VECTOR[FLOAT]"),
    ],
)
def test_type_texts_are_read(text: str, tree: str) -> None:
    def show(node: TypeTree) -> str:
        inner = " ".join(show(child) for child in node.children)
        return f"{node.name}[{inner}]" if inner else node.name

    assert show(TypeTree.parse(text)) == tree


def test_order_does_not_count_but_multiplicity_does() -> None:
    assert not differs([[1], [2], [2]], [[2], [1], [2]])
    assert differs([[1], [2], [2]], [[1], [1], [2]])
    assert differs([[1]], [])


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("DOUBLE", 2.0, 2),
        ("FLOAT", 0.1, 0.10000000149011612),
        ("TIME(3)", 3_723_004, "01:02:03.004000"),
        ("ARRAY<TIME(0)>", [0], ["00:00:00"]),
        ("MAP<INT, FLOAT>", [[1, 1.0], [2, None]], [[2, None], [1, 1]]),
        ("ROW<`a` DOUBLE, `b` INT>", [1, 1], [1.0, 1]),
    ],
)
def test_types_make_two_spellings_equal(kind: str, one: object, other: object) -> None:
    assert not differs([[one]], [[other]], kind)


@pytest.mark.parametrize(
    ("kind", "one", "other"),
    [
        ("DOUBLE", 0.1, 0.10000000149011612),
        ("DECIMAL(3, 1)", "1.0", "1.00"),
        ("INT", 1, True),
        ("STRING", "1", 1),
        ("STRING", "", None),
        ("ARRAY<INT>", [1, 2], [2, 1]),
        ("ROW<`a` INT>", [1], [1, None]),
        ("ROW<`a` INT>", [None], None),
        ("TIMESTAMP(6)", "2024-01-01T00:00:00.000000000", "2024-01-01T00:00:00.000000000Z"),
        ("TIMESTAMP(9)", "2024-01-01T00:00:00.000000001", "2024-01-01T00:00:00.000000000"),
    ],
)
def test_different_values_differ(kind: str, one: object, other: object) -> None:
    assert differs([[one]], [[other]], kind)


def test_a_row_of_another_width_differs() -> None:
    assert differs([[1, None]], [[1]], "INT", "INT")


def test_micros_cuts_both_sides_everywhere() -> None:
    nanos = [["2024-01-01T00:00:00.123456789", ["2024-01-01 00:00:00.123456999Z"]]]
    micros = [["2024-01-01T00:00:00.123456000", ["2024-01-01 00:00:00.123456001Z"]]]
    assert differs(nanos, micros)
    assert not differs(nanos, micros, micros=True)
    assert differs(nanos, [["2024-01-01T00:00:00.123457000", nanos[0][1]]], micros=True)
