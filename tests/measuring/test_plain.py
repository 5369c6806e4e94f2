"""What is written as JSON can be read by anyone."""

import json

import numpy as np

from assent.measuring.plain import plain


def test_numbers_of_any_kind_are_plain_and_what_is_undefined_is_null():
    found = plain(
        {
            "single": np.float32("nan"),
            "double": np.float64("nan"),
            "endless": -np.inf,
            "count": np.int64(3),
            "inner": {"list": [np.float32(0.5), (True, "word")]},
            "array": np.array([1.0, np.inf], np.float32),
        }
    )
    assert json.loads(json.dumps(found, allow_nan=False)) == {
        "single": None,
        "double": None,
        "endless": None,
        "count": 3,
        "inner": {"list": [0.5, [True, "word"]]},
        "array": [1.0, None],
    }
