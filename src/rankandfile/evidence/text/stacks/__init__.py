"""Stacks: where every thread of every process was. One module per format.

A decoding process reads them: no Polars, nothing raised on bad data, all of it within `bounds`. `assemble` makes
the tables of what was found.
"""
