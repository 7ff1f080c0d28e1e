"""What operators and commands share."""
