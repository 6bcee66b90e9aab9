"""Charts: pictures of results with words, numbers and controls."""
