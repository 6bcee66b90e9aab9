"""The scripts that make the reference files need other packages, so tests never import them."""

collect_ignore = ["record_peers.py", "recording"]
