"""What a person has typed: understood, or told what is wrong with it."""
