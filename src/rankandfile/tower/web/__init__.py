"""What every answer of the tower has in common: routes, errors, headers, bodies, and their description."""
