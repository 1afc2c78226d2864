"""A Spark cluster on this machine: a master, two workers and a Connect server, each a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyspark

from runtime.spark_settings import INTERPRETED, cluster_options

HOME = Path(pyspark.__file__).parent
SOURCE = Path(__file__).parents[2] / "src"
_MASTER, _WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_SECONDS = 120
#: What every session on the cluster is made with: workers of Lakebed's Python, and tasks that are tried again.
SETTINGS: Mapping[str, str] = {
    "spark.executor.memory": "600m",
    "spark.executor.cores": "1",
    "spark.executor.extraJavaOptions": cluster_options(),
    "spark.executorEnv.PYTHONPATH": str(SOURCE),
    "spark.pyspark.python": sys.executable,
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.adaptive.enabled": "false",
    **INTERPRETED,
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "1s",
}


@dataclass(slots=True)
class Cluster:
    """A cluster that runs; `master` is its URL."""

    directory: Path
    master: str = ""
    stack: ExitStack = field(default_factory=ExitStack)

    def start(self, name: str, command: list[str], sign: str, host: str = "127.0.0.1") -> str:
        """Start a process on an address of this machine; what the pattern `sign` finds in its log."""
        log = self.directory / f"{name}.log"
        environment = {
            **os.environ,
            "SPARK_HOME": str(HOME),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "700m",
            "SPARK_DAEMON_JAVA_OPTS": cluster_options(),
            "PYTHONPATH": str(SOURCE),
            "PYSPARK_PYTHON": sys.executable,
        }
        with log.open("w") as sink:
            process = subprocess.Popen(command, stdout=sink, stderr=sink, env=environment, cwd=self.directory)
        self.stack.callback(_stop, process)
        until = time.monotonic() + _SECONDS
        while time.monotonic() < until and process.poll() is None:
            found = re.search(sign, log.read_text(errors="replace"))
            if found:
                return found[1]
            time.sleep(0.1)
        raise AssertionError(f"{name} did not start:\n{log.read_text(errors='replace')[-3000:]}")

    def connect_server(self) -> str:
        """The address of a Connect server in front of the cluster."""
        settings = {
            **SETTINGS,
            "spark.connect.grpc.binding.port": "0",
            "spark.connect.grpc.binding.address": "127.0.0.1",
        }
        told = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        command = [str(HOME / "bin" / "spark-submit"), "--class", _CONNECT, "--master", self.master, *told]
        port = self.start("connect", [*command, "spark-internal"], r"Spark Connect server started at: \S+?:(\d+)")
        return f"sc://127.0.0.1:{port}"


@contextmanager
def cluster(directory: Path) -> Iterator[Cluster]:
    """A master and two workers with a core each, on hosts of two names: no second attempt runs on the first one's."""
    made = Cluster(directory)
    run = str(HOME / "bin" / "spark-class")
    with made.stack:
        master = [run, _MASTER, "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"]
        made.master = made.start("master", master, r"Starting Spark master at (spark://\S+)")
        for name, host in (("one", "127.0.0.1"), ("two", "127.0.0.2")):
            options = ["--host", host, "--cores", "1", "--memory", "1g", "--webui-port", "0"]
            worker = [run, _WORKER, *options, "--work-dir", str(directory / name), made.master]
            made.start(name, worker, r"(Successfully registered with master)", host)
        yield made


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
