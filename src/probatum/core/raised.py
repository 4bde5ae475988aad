"""Where a task's own function failed, in the words of a message."""

from __future__ import annotations

import os
import traceback
from pathlib import Path
from typing import Final

__all__ = ["described"]

_OURS: Final = str(Path(__file__).parents[1])
_PYTHONS: Final = str(Path(os.__file__).parent)


def described(error: BaseException) -> str:
    r"""Kind and text of an exception on one line, with the file and the line of the user's that raised it.

    That is the deepest place which is neither ours, nor a library's, nor Python's own.

    >>> described(ValueError("no\nnumber"))
    'ValueError: no number'
    """
    said = " ".join(f"{type(error).__name__}: {error}".split())
    own = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", _OURS, _PYTHONS)) and "site-packages" not in frame.filename
    ]
    return f"{said} ({Path(own[-1].filename).name} line {own[-1].lineno})" if own else said
