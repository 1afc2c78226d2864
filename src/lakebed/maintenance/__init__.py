"""The life of a table: its schema versions, branches and tags, and what is left behind, kept safe and tidy.

Nothing here deletes on doubt: where it cannot be told what refers to a thing, the thing stays and the caller is told.
"""
