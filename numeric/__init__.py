"""Numbers with a guaranteed direction of error."""
