"""On an object store: no directories to move, conditional puts, times of files from the server."""

from __future__ import annotations

from datetime import timedelta

import boto3

import lakebed
from lakebed.catalog.paths import INCOMPLETE
from maintenance.worlds import World
from store.s3_server import S3Server

TABLE = "lab.t"


def test_a_life_on_s3():
    world = World()
    world.commit()
    world.alter()
    world.commit()
    with S3Server() as server:
        options = server.options
        client = boto3.client(
            "s3",
            endpoint_url=options["endpoint_url"],
            aws_access_key_id=options["key"],
            aws_secret_access_key=options["secret"],
            region_name="us-east-1",
        )
        client.create_bucket(Bucket="life")
        for path, data in world.store.snapshot().items():
            client.put_object(Bucket="life", Key=path.lstrip("/"), Body=data)
        lake = lakebed.open("s3://life/w", storage_options=options)
        lake.tags(TABLE).create("one", snapshot=1)
        lake.branches(TABLE).create("b", tag="one")
        lake.branches(TABLE).create("c")
        lake.branches(TABLE).delete("c")
        assert [(b.name, b.latest_snapshot) for b in lake.branches(TABLE).list()] == [("b", 1)]
        keys = [o["Key"] for o in client.list_objects_v2(Bucket="life", Prefix="w/lab.db/t/branch/")["Contents"]]
        assert not any(INCOMPLETE in key or "branch-c" in key for key in keys)
        assert lake.roll_back(TABLE, snapshot=1).snapshots == (2,)
        assert lake.roll_back(TABLE, schema=0).versions == (1,)
        assert lake.orphan_files(TABLE).files == ()
        gone = [f.path.partition("/")[0] for f in lake.remove_orphans(TABLE, min_age=timedelta(0)).files]
        assert sorted(set(gone)) == ["bucket-0", "manifest"]
        assert lake.orphan_files(TABLE, min_age=timedelta(0)).files == ()
        assert lake.branches(TABLE).fast_forward("b").snapshots == ()
        assert lake.unused_versions(TABLE).unused == ()
