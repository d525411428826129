"""Whether tensors are equal within rounding."""
import numpy

from harness.tensors import F16, F64


def difference(got, want):
    """"" where two tensors are equal within rounding, else what differs."""
    if got.dtype != want.dtype:
        return f"type {got.dtype}, not {want.dtype}"
    if got.shape != want.shape:
        return f"shape {list(got.shape)}, not {list(want.shape)}"
    if want.dtype.kind != "f":
        bad = int((got != want).sum())
        return f"{bad} of {want.size} unequal" if bad else ""
    g, w = got.astype(F64), want.astype(F64)
    finite = numpy.isfinite(w)
    if (numpy.isfinite(g) != finite).any() or not numpy.array_equal(g[~finite], w[~finite], equal_nan=True):
        return "NaN or infinity in other places"
    if not finite.any():
        return ""
    relative, absolute = (2e-3, 1e-2) if want.dtype == F16 else (1e-4, 1e-5)
    # Sums cancel: the largest value of a tensor says how exact its small ones can be.
    allowed = relative * (numpy.abs(w) + 0.1 * numpy.abs(w[finite]).max()) + absolute
    off = numpy.abs(g - w)
    bad = int((off[finite] > allowed[finite]).sum())
    return f"{bad} of {want.size} off, worst by {off[finite].max():.3g}" if bad else ""


def differences(got, want):
    return "; ".join(d for d in map(difference, got, want) if d)


def differs_from_both(got, one, other):
    return bool(difference(got, one) and difference(got, other))
