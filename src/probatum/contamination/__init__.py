"""Whether a benchmark's items stand in a text that a model may have learnt from. See docs/contamination.md.

Pure: corpora come as iterables of texts, items as records; nothing here opens a file.
"""

from probatum.contamination.duplicates import NearDuplicate, near_duplicates, same_question
from probatum.contamination.overlap import ItemOverlap, Overlap, ScanReport, scan
from probatum.contamination.tokens import UNITS, Unit, tokenise, window_count

__all__ = [
    "UNITS",
    "ItemOverlap",
    "NearDuplicate",
    "Overlap",
    "ScanReport",
    "Unit",
    "near_duplicates",
    "same_question",
    "scan",
    "tokenise",
    "window_count",
]
