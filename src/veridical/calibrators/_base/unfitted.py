"""The error of a calibrator that was not fitted, which scikit-learn's code knows as its own."""

from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from veridical.exceptions import InvalidInputError


class NotFittedError(InvalidInputError, SklearnNotFittedError):  # type: ignore[misc]
    """A calibrator was used before `fit`."""
