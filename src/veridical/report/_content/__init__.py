"""What a report knows, before it is written."""
