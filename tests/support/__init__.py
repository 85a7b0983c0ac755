"""What the tests have in common: builders of evidence and of cases, and ways to run what is tested."""
