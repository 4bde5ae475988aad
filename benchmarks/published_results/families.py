"""All kinds of published results that can be made again."""

from __future__ import annotations

from . import arithmetic, exams, instructions, judges, programs, ratings, safety, spans
from .rows import Family

__all__ = ["FAMILIES"]

FAMILIES: tuple[Family, ...] = (
    *exams.FAMILIES,
    *arithmetic.FAMILIES,
    *spans.FAMILIES,
    *judges.FAMILIES,
    *ratings.FAMILIES,
    *safety.FAMILIES,
    *programs.FAMILIES,
    *instructions.FAMILIES,
)
