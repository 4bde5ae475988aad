"""What an interpreter reads when it starts and imports, asked of one that nothing holds."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import sys
from typing import Final

LINKED: Final = (
    "_bz2", "_ctypes", "_decimal", "_hashlib", "_lzma", "_random", "_socket", "_sqlite3", "_ssl", "_uuid",
    "pyexpat", "readline", "unicodedata", "zlib",
)  # fmt: skip
"""Modules that bring shared libraries of others, which may stand anywhere."""


def images() -> list[str]:
    """Files of code in this process, as macOS's dynamic linker tells; none where there is no such linker."""
    library = ctypes.CDLL(None)
    if not hasattr(library, "_dyld_image_count"):
        return []
    name = library._dyld_get_image_name  # noqa: SLF001 - what <mach-o/dyld.h> calls it
    name.restype = ctypes.c_char_p
    found = (name(ctypes.c_uint32(number)) for number in range(library._dyld_image_count()))  # noqa: SLF001
    return [os.fsdecode(path) for path in found if path]


def main(modules: list[str]) -> None:
    """Prints directories of modules, and files of code, as JSON."""
    for module in (*modules, *LINKED):
        with contextlib.suppress(ImportError):
            __import__(module)
    folders = [path for path in sys.path if os.path.isdir(path)]  # noqa: PTH112 - text in, text out
    sys.stdout.write(json.dumps({"folders": folders, "files": images(), "program": sys.executable}))
