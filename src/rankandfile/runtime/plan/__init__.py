"""Plans: a rank's calls are held against those of its peers, and against its own past, before they are issued."""
