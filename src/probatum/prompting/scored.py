"""Prompts whose continuations are scored: the options of a question, or a whole text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from probatum.core.errors import ProtocolError, UsageError
from probatum.core.protocol import Part
from probatum.core.records import DEFAULT_SCORING, Item, Rolling, Scoring
from probatum.prompting.forms import LABELS, shot_text, view
from probatum.prompting.templates import check_template, render

__all__ = ["OptionsPrompt", "TextPrompt"]

WINDOWS = Scoring(rolling=Rolling())


@dataclass(frozen=True, kw_only=True)
class OptionsPrompt:
    """Each option as a continuation of the question.

    Templates may read the item's fields, `choices`, `labels` and `target`; those of an option also `choice`,
    `label` and `place` (from 0), and those of a shot `answer` (its right option's text). An item without
    options has its first target as the only one: a text that must follow.

    With `continuation=" {{ label }}"` labels are scored, with `" {{ choice }}"` texts; where the template
    reads `choice` each option has a prompt of its own, and the continuation may be what follows a gap.
    """

    template: str
    """The question, up to where the option follows. No space at its end: that belongs to the option."""
    continuation: str
    """What is scored of each option."""
    shot_template: str = ""
    """A shot: question and answer. Empty where the task takes no shots."""
    separator: str = "\n\n"
    """Between shots, and between the last shot and the question."""
    preamble: str = ""
    """Template of what stands first; it may read the item's fields."""
    unconditional: str | None = None
    """A prompt without the question ("Answer:"), after which each option is scored once more: what its
    likelihood is divided by in PMI (Holtzman et al. 2021, arXiv:2104.08315)."""
    labels: tuple[str, ...] = LABELS
    scoring: Scoring = DEFAULT_SCORING
    strip: bool = True
    """Whether options are shown and scored without white space at their ends: of 1,000 items of HellaSwag 483
    have an option that begins with one blank too many, which costs it a token of its own."""
    lm_eval: OptionsPrompt | None = None
    """How lm-eval's task of this name asks, where it asks otherwise."""

    def __post_init__(self) -> None:
        for template in (self.template, self.continuation, self.shot_template, self.preamble):
            check_template(template)

    @property
    def stop(self) -> tuple[str, ...]:
        """Nothing is generated, and nothing stops."""
        return ()

    def for_compat(self, compat: Literal["lm_eval"]) -> OptionsPrompt:  # noqa: ARG002 - there is one
        """As lm-eval asks: options as they stand; what it scores without the question follows nothing."""
        asked = replace(self.lm_eval or self, strip=False)
        return asked if asked.unconditional is None else replace(asked, unconditional="")

    def render(self, item: Item, shots: Sequence[Item], system: str | None) -> str:
        """The prompt of the first option.

        Raises:
            ProtocolError: a template asks for a field that the item has not; shots without a template.
            UsageError: a system prompt is given, which a text has no place for.
        """
        return self._shown(item, shots, system) + render(self.template, next(self._options(item)))

    def parts(self, item: Item, shots: Sequence[Item], system: str | None) -> tuple[Part, ...]:
        """Every option after the question, in order; then, for PMI, every option without it.

        Raises:
            ProtocolError, UsageError: as `render`.
        """
        shown = self._shown(item, shots, system)
        options = list(self._options(item))
        texts = [render(self.continuation, option) for option in options]
        asked = [
            Part(prompt=shown + render(self.template, option), continuation=text, scoring=self.scoring)
            for option, text in zip(options, texts, strict=True)
        ]
        if self.unconditional is not None:
            asked += [
                Part(prompt=self.unconditional, continuation=text, scoring=self.scoring) for text in texts
            ]
        return tuple(asked)

    def _shown(self, item: Item, shots: Sequence[Item], system: str | None) -> str:
        if system is not None:
            raise UsageError(
                f"a system prompt ({system[:40]!r}) needs a conversation, and likelihoods are of texts; "
                "leave it out, or use --form chat"
            )
        before = render(self.preamble, self._view(item)) if self.preamble else ""
        shown = [render(shot_text(self.shot_template, "shot_template"), self._shot(shot)) for shot in shots]
        return before + "".join(shot + self.separator for shot in shown)

    def _view(self, item: Item) -> Mapping[str, object]:
        if len(item.choices) > len(self.labels):
            raise ProtocolError(
                f"item {item.id!r} has {len(item.choices)} options and only {len(self.labels)} labels"
            )
        return {**view(item), "choices": self._choices(item), "labels": self.labels[: len(item.choices)]}

    def _choices(self, item: Item) -> tuple[str, ...]:
        return tuple(choice.strip() for choice in item.choices) if self.strip else item.choices

    def _shot(self, item: Item) -> Mapping[str, object]:
        options = {str(option["label"]): option for option in self._options(item)}
        right = options.get(item.targets[0]) if item.targets else None
        if right is None:
            raise ProtocolError(
                f"shot {item.id!r} cannot be shown: its target {item.targets[:1]!r} is none of its options"
            )
        return {**right, "answer": right["choice"]}

    def _options(self, item: Item) -> Iterator[Mapping[str, object]]:
        """What a template may read of each option."""
        seen = self._view(item)
        if not item.choices:
            if not item.targets:
                raise ProtocolError(f"item {item.id!r} has neither options nor a target to score")
            yield {**seen, "choice": item.targets[0], "label": item.targets[0], "place": 0}
            return
        for place, choice in enumerate(self._choices(item)):
            yield {**seen, "choice": choice, "label": self.labels[place], "place": place}


@dataclass(frozen=True, kw_only=True)
class TextPrompt:
    """A whole text, scored in windows."""

    field: str = "text"
    """The item's field that holds it."""
    scoring: Scoring = WINDOWS
    lm_eval_field: str | None = None
    """The field that lm-eval's task of this name scores, where it scores another text."""

    def for_compat(self, compat: Literal["lm_eval"]) -> TextPrompt:  # noqa: ARG002 - there is one
        """The text that lm-eval scores."""
        return replace(self, field=self.lm_eval_field or self.field)

    @property
    def stop(self) -> tuple[str, ...]:
        """Nothing is generated, and nothing stops."""
        return ()

    def render(self, item: Item, shots: Sequence[Item], system: str | None) -> str:
        """The text itself.

        Raises:
            ProtocolError: the item has no such field, or no text in it.
            UsageError: shots or a system prompt are given, which a text has no place for.
        """
        if shots or system is not None:
            raise UsageError("a text is scored as it stands; leave --shots and --system out")
        text = item.fields.get(self.field)
        if not isinstance(text, str) or not text:
            raise ProtocolError(f"item {item.id!r} has no text in its field {self.field!r}")
        return text

    def parts(self, item: Item, shots: Sequence[Item], system: str | None) -> tuple[Part, ...]:
        """The text after nothing.

        Raises:
            ProtocolError, UsageError: as `render`.
        """
        return (Part(prompt="", continuation=self.render(item, shots, system), scoring=self.scoring),)
