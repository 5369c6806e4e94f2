"""Elementwise passes in numba: each thread takes its share of the rows.

exp and log are polynomials in float32, exact to a few units in the last place, because a call to
the C library would keep the loop from using vector registers. No flag assumes finite numbers:
what is not a number must reach the loss, where training looks for it.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

from assent.geometry import threads

if not threads.available():  # its symbols could not be resolved; torch's own passes take over
    raise ImportError("torch computes without OpenMP here")

for _name, _address in threads.symbols().items():
    llvmlite.binding.add_symbol(_name, _address)

_thread = types.ExternalFunction(threads.THREAD, types.int32())
_threads = types.ExternalFunction(threads.THREADS, types.int32())
LOOP = types.void(types.CPointer(types.int64))
# Only the sums over a row may be reordered; in `1 - s - s t` the order is what makes it exact.
_formula = njit(fastmath={"contract"}, error_model="numpy")
_sum = njit(fastmath={"contract", "reassoc"}, error_model="numpy")

F = np.float32
ZERO, HALF, ONE, TWO = F(0), F(0.5), F(1), F(2)
LOG2E, LOWEST = F(1.4426950408889634), F(-87)
LN2, LN2_HIGH, LN2_LOW = F(0.6931471805599453), F(0.693359375), F(-2.12194440e-4)
E2, E3, E4 = F(5.0000001201e-1), F(1.6666665459e-1), F(4.1665795894e-2)
E5, E6, E7 = F(8.3334519073e-3), F(1.3981999507e-3), F(1.9875691500e-4)
L3, L5, L7, L9 = F(1 / 3), F(1 / 5), F(1 / 7), F(1 / 9)
BLOCK, LARGEST = 2048, F(3e38)
# A smaller slope moves nothing. Kept, it would become subnormal in the products that follow, and
# those take processors a hundred times as long.
FAINTEST = F(1e-20)
TASKS = 16  # parts of the rows, the same for any number of threads: sums of columns round alike
BIAS, MANTISSA, MANTISSA_BITS = np.int32(127), np.int32(0x7FFFFF), np.int32(23)
ONE_BITS, ROOT2_BITS = np.int32(0x3F800000), np.int32(0x3504F3)


@njit
def me():
    """Which of the threads this is."""
    return np.int64(_thread())


@njit
def team():
    """How many threads there are."""
    return np.int64(_threads())


@intrinsic
def floats(context, address):
    def generate(_, builder, signature, values):
        return builder.inttoptr(values[0], ir.FloatType().as_pointer())

    return types.CPointer(types.float32)(types.int64), generate


@intrinsic
def _doubles(context, address):
    def generate(_, builder, signature, values):
        return builder.inttoptr(values[0], ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(types.int64), generate


@intrinsic
def _integers(context, address):
    def generate(_, builder, signature, values):
        return builder.inttoptr(values[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(types.int64), generate


@intrinsic
def _as_float(context, bits):
    def generate(_, builder, signature, values):
        return builder.bitcast(values[0], ir.FloatType())

    return types.float32(types.int32), generate


@intrinsic
def _as_bits(context, number):
    def generate(_, builder, signature, values):
        return builder.bitcast(values[0], ir.IntType(32))

    return types.int32(types.float32), generate


@intrinsic
def _truncated(context, number):
    def generate(_, builder, signature, values):
        return builder.fptosi(values[0], ir.IntType(32))

    return types.int32(types.float32), generate


@_formula
def _expm1_parts(x):
    """For x <= 0: s, a power of two, and t, so that exp(x) = s + s t; t is small."""
    x = LOWEST if x < LOWEST else x
    n = _truncated(x * LOG2E - HALF)  # towards zero, so this rounds
    r = x - F(n) * LN2_HIGH - F(n) * LN2_LOW
    t = ((((E7 * r + E6) * r + E5) * r + E4) * r + E3) * r + E2
    return _as_float((n + BIAS) << MANTISSA_BITS), t * r * r + r


@_formula
def _log(y):
    """For positive, normal y: exponent, and twice the artanh of what is left around 1."""
    bits = _as_bits(y)
    mantissa = bits & MANTISSA
    up = np.int32(1) if mantissa > ROOT2_BITS else np.int32(0)
    exponent = (bits >> MANTISSA_BITS) - BIAS + up
    f = _as_float((mantissa | ONE_BITS) - (up << MANTISSA_BITS)) - ONE
    w = f / (TWO + f)
    v = w * w
    return F(exponent) * LN2 + TWO * w * ((((L9 * v + L7) * v + L5) * v + L3) * v + ONE)


@_formula
def _probability(x):
    """The probability of a candidate with score x, and exp(-|x|)."""
    scale, t = _expm1_parts(-abs(x))
    z = scale + scale * t
    upper = ONE / (ONE + z)  # the probability of |x|
    return upper if x >= ZERO else z * upper, z


@_formula
def _log1p_of_odds(p):
    """log1p(exp(-|x|)) again, from the probability: 2 artanh(w), where w <= 1/3."""
    rest = ONE - p
    z = p / rest if p < rest else rest / p
    w = z / (TWO + z)
    v = w * w
    return TWO * w * ((((L9 * v + L7) * v + L5) * v + L3) * v + ONE)


@_formula
def _refused_distance(d, near):
    """The cost of a candidate at distance d, how the cost changes with d, and 1 - exp(-2 d)."""
    x = near if d < near else d
    scale, t = _expm1_parts(-TWO * x)
    w = scale + scale * t  # exp(-2 d)
    rest = (ONE - scale) - scale * t  # 1 - exp(-2 d): exact for small d, where scale is 1
    odds = TWO * w / rest
    slope = -(odds + odds / (ONE + odds))
    cost = _log(ONE + odds) + ZERO * d  # the bits that _log reads would hide a nan
    return cost, ZERO if d < near else slope, rest


@_formula
def _felt(slope):
    """The slope, or nothing where it is too faint."""
    return ZERO if abs(slope) < FAINTEST else slope


@_formula
def _label_distance(d, near, rest):
    """The logit of a candidate at distance d, and how it changes with d."""
    x = near if d < near else d
    return LN2 - TWO * x - _log(rest), ZERO if d < near else -TWO / rest


@_sum
def _refuse_logits_block(row, bias, sums, label, scale):
    """A refusal costs max(x, 0) + log1p(exp(-|x|)); one logarithm of a product does for many."""
    linear, product = ZERO, ONE
    for j in range(len(row)):
        x = row[j] + bias[j]
        p, z = _probability(x)
        linear += HALF * (x + abs(x)) - label * x
        product *= ONE + z
        slope = _felt((p - label) * scale)
        row[j] = slope
        sums[j] += slope
    return linear, product


@_sum
def _log1p_block(row, label, scale):
    """What the product would have been, had it not grown too large: many scores near zero."""
    logarithm = ZERO
    for j in range(len(row)):
        logarithm += _log1p_of_odds(row[j] / scale + label)
    return logarithm


@_sum
def _refuse_logits_row(row, bias, sums, label, scale, ends, weights):
    loss, first = 0.0, 0
    for part in range(len(ends)):
        times = F(scale * weights[part])
        while first < ends[part]:
            last = min(first + BLOCK, ends[part])
            block = row[first:last]
            linear, product = _refuse_logits_block(
                block, bias[first:last], sums[first:last], label, times
            )
            if product < LARGEST:
                logarithm = np.log(np.float64(product))
            else:
                logarithm = np.float64(_log1p_block(block, label, times))
            loss += weights[part] * (logarithm + linear)
            first = last
    return loss


@_sum
def _refuse_distances_row(row, near, label, scale, ends, weights):
    loss, first = 0.0, 0
    for part in range(len(ends)):
        times, last = F(scale * weights[part]), ends[part]
        loss += weights[part] * _refuse_distances_block(row[first:last], near, label, times)
        first = last
    return loss


@_sum
def _refuse_distances_block(row, near, label, scale):
    loss = ZERO
    if label == ZERO:
        for j in range(len(row)):
            cost, slope, _ = _refused_distance(row[j], near)
            loss += cost
            row[j] = _felt(slope * scale)
    else:
        for j in range(len(row)):
            cost, slope, rest = _refused_distance(row[j], near)
            logit, steepness = _label_distance(row[j], near, rest)
            loss += cost - label * logit
            row[j] = _felt((slope - label * steepness) * scale)
    return loss


@cfunc(LOOP, cache=True)
def refuse_logits(arguments):
    """raw (rows, columns), bias (columns,), losses, label and scale, parts, column sums."""
    a = carray(arguments, (10,))
    rows, columns = a[1], a[2]
    raw = carray(floats(a[0]), (rows, columns))
    bias = carray(floats(a[3]), (columns,))
    losses = carray(_doubles(a[4]), (rows,))
    numbers = carray(_doubles(a[5]), (2,))
    label, scale = F(numbers[0]), numbers[1]
    ends, weights = carray(_integers(a[7]), (a[6],)), carray(_doubles(a[8]), (a[6],))
    sums = carray(floats(a[9]), (TASKS, columns))
    for task in range(me(), TASKS, team()):
        for i in range(rows * task // TASKS, rows * (task + 1) // TASKS):
            losses[i] = _refuse_logits_row(raw[i], bias, sums[task], label, scale, ends, weights)


@cfunc(LOOP, cache=True)
def refuse_distances(arguments):
    """distances (rows, columns), near (1,), losses, label and scale, parts; see `passes.py`."""
    a = carray(arguments, (9,))
    rows, columns = a[1], a[2]
    raw = carray(floats(a[0]), (rows, columns))
    near = carray(floats(a[3]), (1,))[0]
    losses = carray(_doubles(a[4]), (rows,))
    numbers = carray(_doubles(a[5]), (2,))
    label, scale = F(numbers[0]), numbers[1]
    ends, weights = carray(_integers(a[7]), (a[6],)), carray(_doubles(a[8]), (a[6],))
    count, mine = team(), me()
    for i in range(rows * mine // count, rows * (mine + 1) // count):
        losses[i] = _refuse_distances_row(raw[i], near, label, scale, ends, weights)
