"""What is measured and trained: networks, losses, data; those that ship with the package and those of a user."""
