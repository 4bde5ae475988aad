"""Rows of benchmarks to items: found, read strictly, and checked before any model is asked.

A source is looked for in a data directory, then in a Python package, then on the Hugging Face hub at a
pinned revision. Nothing heavy is imported before it is needed.
"""

from __future__ import annotations

from probatum.datasets.dataset import Dataset, Expected, load_file, load_items, load_rows, of_items, of_rows
from probatum.datasets.faults import BrokenRowsError, Fault, Place
from probatum.datasets.hub import HubAccess

__all__ = [
    "BrokenRowsError",
    "Dataset",
    "Expected",
    "Fault",
    "HubAccess",
    "Place",
    "load_file",
    "load_items",
    "load_rows",
    "of_items",
    "of_rows",
]
