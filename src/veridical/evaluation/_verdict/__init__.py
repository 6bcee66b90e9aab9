"""The one verdict: from a joint test and figures to words."""
