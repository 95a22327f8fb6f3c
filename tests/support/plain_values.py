"""Values of Python's built-in types, as hypothesis draws them."""

from hypothesis import strategies as st

HASHABLE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)
VALUES = st.recursive(
    HASHABLE | st.complex_numbers(allow_nan=False) | st.binary().map(bytearray),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(HASHABLE, inner, max_size=4)
        | st.sets(HASHABLE, max_size=4)
        | st.tuples(inner)
    ),
    max_leaves=10,
)
