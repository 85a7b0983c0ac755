"""Logs: who wrote what about the hang.

A decoding process makes columns of one file; `assemble` makes a case's tables of many. They are apart because the
former must start quickly, and the latter needs Polars.
"""
