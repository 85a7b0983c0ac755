"""What still holds of a call that is taken out of a test of the rank."""
