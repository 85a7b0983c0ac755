"""Claims: how findings are said as claims, and each kind's check against the tables of the case.

A check takes another way than the reasoning did: it reads the tables themselves, and none of the facts made from them.
"""
