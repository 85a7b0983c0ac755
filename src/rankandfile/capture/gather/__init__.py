"""What a stuck or ended job leaves: rings, stacks, answers of its worker servers, logs, exits."""
