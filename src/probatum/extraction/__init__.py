"""Text → answer, with its evidence. Never raises on what a model wrote; see docs/extraction.md."""

from probatum.extraction.boxes import extract_boxed
from probatum.extraction.code import assemble_answer, assemble_completion, assemble_method, extract_code
from probatum.extraction.components import (
    DeclaredLine,
    FinalNumber,
    OptionLetter,
    PatternAnswer,
    PythonCode,
    ShortAnswer,
)
from probatum.extraction.evidence import Ambiguous, Extraction, Extractor, Found, Missing
from probatum.extraction.mathematics import MathAnswer, extract_math
from probatum.extraction.options import extract_option, extract_options
from probatum.extraction.quantity import extract_number
from probatum.extraction.reasoning import strip_reasoning
from probatum.extraction.refusal import Reaction, RefusalReading, RefusalSign, detect_refusal

__all__ = [
    "Ambiguous",
    "DeclaredLine",
    "Extraction",
    "Extractor",
    "FinalNumber",
    "Found",
    "MathAnswer",
    "Missing",
    "OptionLetter",
    "PatternAnswer",
    "PythonCode",
    "Reaction",
    "RefusalReading",
    "RefusalSign",
    "ShortAnswer",
    "assemble_answer",
    "assemble_completion",
    "assemble_method",
    "detect_refusal",
    "extract_boxed",
    "extract_code",
    "extract_math",
    "extract_number",
    "extract_option",
    "extract_options",
    "strip_reasoning",
]
