"""The sentinel: compares the ranks of a running job, by their rings, and says where they part before a timeout does."""
