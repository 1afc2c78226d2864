"""Tests start Spark from the archive of its classes, where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runtime import spark_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_the_session_has_the_classes_of_the_archive(spark: SparkSession) -> None:
    maps = Path("/proc") / str(spark.sparkContext._gateway.proc.pid) / "maps"
    if not spark_settings.shared_classes() or not maps.is_file():
        pytest.skip("no archive, or no Linux")
    assert str(spark_settings.CLASSES.resolve()) in maps.read_text()


def test_options_are_set_once_before_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_settings, "CLASSES", tmp_path / "classes.jsa")
    environment = {"SPARK_SUBMIT_OPTS": "-Da=b"}
    spark_settings.set_java_options(environment)
    once = dict(environment)
    spark_settings.set_java_options(environment)
    assert environment == once
    assert once["SPARK_SUBMIT_OPTS"] == " ".join((*spark_settings.JAVA_OPTIONS, "-Da=b"))
    assert "-Xmn" not in once["SPARK_LAUNCHER_OPTS"]
    spark_settings.CLASSES.touch()
    started: dict[str, str] = {}
    spark_settings.set_java_options(started)
    assert f"-XX:SharedArchiveFile={spark_settings.CLASSES}" in started["SPARK_SUBMIT_OPTS"]
    assert "Shared" not in started["SPARK_LAUNCHER_OPTS"]
