"""What the documentation is made with: nothing of it is part of the package."""
