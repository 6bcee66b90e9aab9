"""What the studio holds: tables, fits, files."""
