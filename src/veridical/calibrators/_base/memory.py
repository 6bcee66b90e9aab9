"""What a calibrator remembers of the rows it was fitted on, to know them again."""

from __future__ import annotations

import base64
import math
import re
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from veridical._core.data.schema import Number, Place, Text, check_fields
from veridical._core.loops import keyed_digests
from veridical._core.numeric.blocks import row_blocks
from veridical._core.typing import ArrayLike, FloatArray, IntArray
from veridical.calibrators._base.rows import check_rows
from veridical.exceptions import invalid

if TYPE_CHECKING:
    from veridical.calibrators._base.calibrator import Calibrator


KEYS = 1024  # distinct rows that are kept: shares are known to about 3 %
_LOOKED_UP = 4096
_DIGEST = 6  # bytes: a stranger's row is taken for a kept one with probability 4e-12
_TOP = 2**64 - 1


@dataclass(frozen=True)
class Overlap:
    """How many of the rows looked up were found, and how many strangers would have been.

    Attributes
    ----------
    looked_up, found : int
    chance : float
        Share of new rows that look like a kept one by having the same label and prediction.
    kept_rows : int
        Rows that `chance` was estimated from.
    """

    looked_up: int
    found: int
    chance: float
    kept_rows: int

    @property
    def share(self) -> float:
        """Estimated share of rows that were fitted on; NaN if nothing can be said."""
        if self.looked_up == 0 or self.chance >= 1:
            return math.nan
        found = self.found / self.looked_up
        return min(max((found - self.chance) / (1 - self.chance), 0.0), 1.0)

    @property
    def beyond_chance(self) -> bool:
        """Whether more rows were found than strangers explain, by four standard errors."""
        chance = (self.chance * self.kept_rows + 1) / (self.kept_rows + 2)
        n = self.looked_up
        # Rows found by chance come in pairs, which doubles the variance of the estimated chance.
        variance = chance * (1 - chance) * (n + 2 * n * n / self.kept_rows)
        return self.found > chance * n + 4 * math.sqrt(variance)


@dataclass(frozen=True)
class Fingerprint:
    """Salted hashes of some of the rows a calibrator was fitted on.

    Predictions, rounded to single precision, and the class of each row are mixed into 64 bits;
    the rows with the 1,024 smallest of these numbers are kept (bottom-k sketch: Cohen & Kaplan
    2007, doi 10.1145/1281100.1281133), as keyed BLAKE2 digests of 48 bits. The key is derived from
    the rows, so that equal rows look different in two calibrators and equal fits are equal.

    A digest cannot be turned back into a row, but whoever guesses a row can check the guess:
    that is its purpose. Where this is too much, drop it (`Calibrator.forget`).

    Attributes
    ----------
    rows : int
        Rows fitted on.
    salt : str
        Key of the digests, hexadecimal.
    limit : int
        Rows whose number is above it were not kept.
    digests : str
        Base64 of the digests.
    kept_rows, singles : int
        Rows behind the digests, and how many of them had no double.
    """

    rows: int
    salt: str
    limit: int
    digests: str
    kept_rows: int
    singles: int

    def overlap(self, values: FloatArray, y: IntArray) -> Overlap:
        """Look up rows, those with the smallest numbers if there are many."""
        numbers = _row_numbers(values, y)
        numbers = numbers[numbers <= np.uint64(self.limit)]
        if len(numbers) > _LOOKED_UP:
            numbers = numbers[numbers <= np.partition(numbers, _LOOKED_UP)[_LOOKED_UP]]
        distinct, counts = np.unique(numbers, return_counts=True)
        raw = base64.b64decode(self.digests)
        known = {raw[i : i + _DIGEST] for i in range(0, len(raw), _DIGEST)}
        looked_up = _digests(distinct, self.salt)
        found = [looked_up[i : i + _DIGEST] in known for i in range(0, len(looked_up), _DIGEST)]
        # New draws repeat old ones as often as the old ones repeat each other
        # (Good 1953, doi 10.1093/biomet/40.3-4.237).
        chance = 1 - self.singles / self.kept_rows
        hits = int(counts[np.asarray(found, dtype=bool)].sum())
        return Overlap(len(numbers), hits, chance, self.kept_rows)

    def to_dict(self) -> dict[str, Any]:
        """JSON-safe dictionary of the attributes."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Any, place: Place) -> Fingerprint:
        """Read back what `to_dict` wrote."""
        if not isinstance(data, dict):
            raise place.wrong(data, "a record")
        check_fields(_FIELDS, data, replace(place, owner=cls))
        found = cls(**data)
        if not re.fullmatch(r"[0-9a-f]{32}", found.salt):
            raise place.at("salt").wrong(found.salt, "32 hexadecimal digits")
        length = 4 * _DIGEST // 3  # of a digest in base64
        if not re.fullmatch(rf"(?:[A-Za-z0-9+/]{{{length}}}){{1,{KEYS}}}", found.digests):
            raise place.at("digests").wrong(found.digests, "digests in base64")
        if not found.singles <= found.kept_rows <= found.rows:
            raise place.at("kept_rows").wrong(found.kept_rows, f"at most {found.rows}")
        return found


_FIELDS = {
    "rows": Number(low=1, whole=True),
    "salt": Text(),
    "limit": Number(low=0, high=_TOP, whole=True),
    "digests": Text(),
    "kept_rows": Number(low=1, whole=True),
    "singles": Number(low=0, whole=True),
}


def take_fingerprint(values: FloatArray, y: IntArray) -> Fingerprint:
    """Fingerprint of rows: predictions of shape (n,) or (n, K) and class indices. O(n K)."""
    numbers = _row_numbers(values, y)
    distinct, counts = _smallest(numbers)
    limit = _TOP
    if len(distinct) > KEYS:
        distinct, counts = distinct[:KEYS], counts[:KEYS]
        limit = int(distinct[-1])
    total = int(np.add.reduce(numbers))  # modulo 2^64, whatever the order of rows
    seed = total.to_bytes(8, "little") + len(numbers).to_bytes(8, "little")
    salt = blake2b(seed, digest_size=16, person=b"veridical").hexdigest()
    return Fingerprint(
        rows=len(numbers),
        salt=salt,
        limit=limit,
        digests=base64.b64encode(_digests(distinct, salt)).decode(),
        kept_rows=int(counts.sum()),
        singles=int((counts == 1).sum()),
    )


def _smallest(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """Smallest distinct numbers, more than `KEYS` if there are, and how often each occurs."""
    if len(numbers) > 4 * KEYS:
        # Numbers are uniform: these are about twice as many as needed, if distinct.
        low = numbers[numbers <= np.uint64(2 * KEYS * (_TOP // len(numbers)))]
        distinct, counts = np.unique(low, return_counts=True)
        if len(distinct) > KEYS:
            return distinct, counts
    return np.unique(numbers, return_counts=True)


def _digests(numbers: IntArray, salt: str) -> bytes:
    """Digests of numbers, one after the other."""
    if (known := keyed_digests(numbers, bytes.fromhex(salt), _DIGEST)) is not None:
        return known
    keyed = blake2b(digest_size=_DIGEST, key=bytes.fromhex(salt)).copy
    raw = numbers.astype("<u8").tobytes()
    digests = []
    for first in range(0, len(raw), 8):
        one = keyed()
        one.update(raw[first : first + 8])
        digests.append(one.digest())
    return b"".join(digests)


def _row_numbers(values: FloatArray, y: IntArray) -> IntArray:
    """A number of 64 bits for each row, the same wherever and however often the row occurs.

    A sum of columns times fixed odd numbers (multilinear hashing), then mixed as in SplitMix64
    (Steele, Lea & Flood 2014, doi 10.1145/2660193.2660195).
    """
    columns = [values] if values.ndim == 1 else list(values.T)
    odd = [_mixed(np.array([j], dtype=np.uint64)) | np.uint64(1) for j in range(len(columns) + 1)]
    result = np.empty(len(y), dtype=np.uint64)
    with np.errstate(over="ignore"):  # scores beyond single precision become infinite
        for block in row_blocks(len(y)):
            total = y[block].astype(np.uint64) * odd[-1]
            for column, factor in zip(columns, odd, strict=False):
                single = column[block].astype(np.float32)
                single += np.float32(0)  # -0 and 0 are one prediction
                total += single.view(np.uint32) * factor
            result[block] = _mixed(total)
    return result


def _mixed(bits: IntArray) -> IntArray:
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits ^= bits >> np.uint64(shift)
        bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(31)
    return bits


_WORTH_A_NOTE = 0.01


def overlap_of(calibrator: Calibrator, y_prob: ArrayLike, y: ArrayLike, *, caller: str) -> Overlap:
    """Look up rows in the fingerprint of a fitted calibrator."""
    values = calibrator._checked_values(y_prob, caller=caller)
    if not hasattr(calibrator, "fingerprint_"):
        hint = "fit it again with `keeps_fingerprint = True`."
        raise invalid(caller, "calibrator", "with a fingerprint", "one without", hint=hint)
    rows = check_rows(
        values,
        y,
        None,
        input=calibrator.input,
        labels=np.asarray(calibrator.classes_),
        pos_label=calibrator.positive_label,
        weight_type="importance",
        caller=caller,
    )
    return calibrator.fingerprint_.overlap(rows.oriented(calibrator.input), rows.y)


def overlap_note(
    calibrator: Calibrator, y_prob: ArrayLike, y: ArrayLike, *, caller: str = "evaluate"
) -> str | None:
    """Sentence about rows the calibrator was fitted on, None if there is nothing to say.

    Speaks up where at least 1 in 100 rows were fitted on and chance does not explain it:
    predictions of two decimals coincide so often that a part of the same rows goes unnoticed. To
    report on the rows a calibrator was fitted to is a common mistake (004 section 86.7).

    Parameters
    ----------
    calibrator : Calibrator
        Fitted; without a fingerprint there is never a note.
    y_prob : array-like
        Predictions before calibration, as its `fit` took them.
    y : array-like of shape (n,)
        Labels.
    caller : str
        Who asks: it opens the error message.

    Examples
    --------
    >>> from veridical.calibrators import IdentityCalibrator
    >>> p, y = [0.11, 0.22, 0.33, 0.44, 0.55, 0.66, 0.77, 0.88], [0, 0, 1, 0, 1, 0, 1, 1]
    >>> calibrator = IdentityCalibrator().fit(p, y)
    >>> overlap_note(calibrator, p, y).split(",")[0]
    'all of these rows were used to fit the calibrator'
    >>> overlap_note(calibrator, [0.1, 0.9], [0, 1])
    """
    if not hasattr(calibrator, "fingerprint_"):
        return None
    overlap = overlap_of(calibrator, y_prob, y, caller=caller)
    if not (overlap.beyond_chance and overlap.share >= _WORTH_A_NOTE):
        return None
    share = f"{overlap.share:.0%}" if overlap.share < 0.995 else "all"
    return (
        f"{share} of these rows were used to fit the calibrator, whose errors look smaller on "
        "them than on new rows"
    )
