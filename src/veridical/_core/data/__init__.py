"""What is known of the rows: labels, checked samples, groups."""
