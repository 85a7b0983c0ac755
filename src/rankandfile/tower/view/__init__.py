"""What reports come to: pure functions from what the nodes of a job said to what a page shows."""
