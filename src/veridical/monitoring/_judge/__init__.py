"""What a monitor says of what it kept."""
