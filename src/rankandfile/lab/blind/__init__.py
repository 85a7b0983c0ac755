"""Blind sets: programs by somebody who has not seen the analyser, scored once, untouched.

A set is a folder: `set.toml`, a folder for each case, and, once it is sealed, `truths.sealed`. `skeleton` makes one,
`sealing` runs its programs and seals what really happened, `scoring` answers each case from each form of evidence, and
`reveal` turns the cases into ordinary incidents of the lab.
"""
