"""An all_to_all: what each member gives to each other one, and takes of it."""
