"""Maintain tables: branches, tags, roll back, unused schema versions and orphan files.

Nothing here deletes on doubt: where it cannot be told what refers to a thing, the thing stays and the caller is told.
"""
