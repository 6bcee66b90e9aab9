"""Maps of several classes that are linear in logits."""
