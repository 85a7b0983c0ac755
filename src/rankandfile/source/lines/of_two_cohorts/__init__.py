"""Lines that two cohorts' call paths lead to: the decision between them, or what made the difference in one call."""
