"""Chi-square and z tests."""
