"""One controller over the ranks of a job."""

ORDER = 25
