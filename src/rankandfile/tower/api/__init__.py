"""What programs ask of the tower."""
