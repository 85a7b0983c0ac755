"""What the program writes into things without an assignment to their names."""
