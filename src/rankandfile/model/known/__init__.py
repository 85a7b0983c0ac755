"""What is known beforehand of programs that are not the user's: frameworks, packages, names by release."""
