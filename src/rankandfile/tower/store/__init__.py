"""What the tower keeps: in one SQLite file, or in a Postgres that several towers share."""
