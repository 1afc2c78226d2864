"""Read and write the table format below the schema: snapshots, manifests, statistics, commits.

Nothing heavy is imported here: name the module you need. Values are "internal": DATE is days since 1970, TIME
milliseconds of the day, TIMESTAMP of both kinds nanoseconds since 1970 (all int), DECIMAL `decimal.Decimal`, strings
`str`, bytes `bytes`.
"""

from __future__ import annotations
