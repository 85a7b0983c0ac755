"""Words and pictures of a case or a diagnosis. No decisions."""
