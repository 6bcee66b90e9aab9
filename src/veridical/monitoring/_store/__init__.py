"""What a monitor keeps."""
