"""A vector register as a numba type, for loops that LLVM does not vectorise by itself.

It looks at innermost loops alone, so that sums which outlive them travel through memory. With a
type for what is in a register and a few operations on it, a loop runs as it is written.

Nothing here checks an index. Numba's cache does not look at this file: whoever changes it
touches `kernels.py` and `forms.py` too.
"""

# mypy: ignore-errors
# Numba checks the types here, in its own way.

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

# A register of AVX-512 or AVX, or two of a smaller kind: LLVM splits what is too long.
LANES = 16 if llvmlite.binding.get_host_cpu_features().get("avx512f") else 8

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_BITS = ir.VectorType(ir.IntType(32), LANES)
_SIGN = ir.Constant(_BITS, [0x80000000] * LANES)
_REST = ir.Constant(_BITS, [0x7FFFFFFF] * LANES)


class _Vector(types.Type):
    def __init__(self):
        super().__init__(name=f"vector{LANES}")


VECTOR = _Vector()


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _FLOATS)


def _pointer(context, builder, signature, values):
    """Where a number of a contiguous array lies."""
    array = context.make_array(signature.args[0])(context, builder, values[0])
    return builder.gep(array.data, [values[1]])


@intrinsic
def get(_, array, index):
    """array[index]; numba's own would first ask whether the index counts from the end."""

    def generate(context, builder, signature, values):
        return builder.load(_pointer(context, builder, signature, values))

    return types.float32(array, types.int64), generate


@intrinsic
def put(_, array, index, number):
    """array[index] = number"""

    def generate(context, builder, signature, values):
        builder.store(values[2], _pointer(context, builder, signature, values))
        return context.get_dummy_value()

    return types.void(array, types.int64, types.float32), generate


@intrinsic
def load(_, array, index):
    """array[index : index + LANES]"""

    def generate(context, builder, signature, values):
        place = _pointer(context, builder, signature, values)
        return builder.load(builder.bitcast(place, _FLOATS.as_pointer()), align=4)

    return VECTOR(array, types.int64), generate


@intrinsic
def store(_, array, index, vector):
    """array[index : index + LANES] = vector"""

    def generate(context, builder, signature, values):
        place = _pointer(context, builder, signature, values)
        builder.store(values[2], builder.bitcast(place, _FLOATS.as_pointer()), align=4)
        return context.get_dummy_value()

    return types.void(array, types.int64, VECTOR), generate


@intrinsic
def spread(_, number):
    """The number in every lane."""

    def generate(context, builder, signature, values):
        first = builder.insert_element(_FLOATS(ir.Undefined), values[0], ir.IntType(32)(0))
        return builder.shuffle_vector(first, first, _BITS(None))

    return VECTOR(types.float32), generate


@intrinsic
def plus(_, one, other):
    """one + other"""

    def generate(context, builder, signature, values):
        return builder.fadd(*values)

    return VECTOR(VECTOR, VECTOR), generate


@intrinsic
def apart(_, one, other):
    """|one - other|"""

    def generate(context, builder, signature, values):
        bits = builder.bitcast(builder.fsub(*values), _BITS)
        return builder.bitcast(builder.and_(bits, _REST), _FLOATS)

    return VECTOR(VECTOR, VECTOR), generate


@intrinsic
def towards(_, slope, one, other):
    """The slope, or its negative where one < other."""

    def generate(context, builder, signature, values):
        slope, one, other = values
        sign = builder.and_(builder.bitcast(builder.fsub(one, other), _BITS), _SIGN)
        return builder.bitcast(builder.xor(builder.bitcast(slope, _BITS), sign), _FLOATS)

    return VECTOR(VECTOR, VECTOR, VECTOR), generate


@intrinsic
def times(_, one, other):
    """one * other"""

    def generate(context, builder, signature, values):
        return builder.fmul(*values)

    return VECTOR(VECTOR, VECTOR), generate


@intrinsic
def times_plus(_, one, other, more):
    """one * other + more, rounded once"""

    def generate(context, builder, signature, values):
        fused = ir.FunctionType(_FLOATS, [_FLOATS] * 3)
        return builder.call(
            cgutils.get_or_insert_function(builder.module, fused, f"llvm.fma.v{LANES}f32"), values
        )

    return VECTOR(VECTOR, VECTOR, VECTOR), generate


@intrinsic
def total(_, vector):
    """The sum of all lanes: halves are added until one number is left."""

    def generate(context, builder, signature, values):
        (rest,) = values
        width = LANES
        while width > 1:
            width //= 2
            halves = ([ir.IntType(32)(i + offset) for i in range(width)] for offset in (0, width))
            lower, upper = (
                builder.shuffle_vector(
                    rest, rest, ir.Constant(ir.VectorType(ir.IntType(32), width), lanes)
                )
                for lanes in halves
            )
            rest = builder.fadd(lower, upper)
        return builder.extract_element(rest, ir.IntType(32)(0))

    return types.float32(VECTOR), generate
