"""Make a hang with known truth; score analysers on many."""

ORDER = 120
