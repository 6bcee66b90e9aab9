"""What `record_peers.py` is made of: inputs, one recorder for each package, and the file format."""
