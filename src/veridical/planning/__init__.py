"""Planning: what decisions made with predictions are worth before there is a model."""
