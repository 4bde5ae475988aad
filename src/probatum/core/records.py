"""What flows: Item → Request → Response → (Program → Execution) → Outcome → Estimate.

All records are frozen and plain; behaviour lives beside them, in the layers above.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Literal

from probatum.core.canonical import digest_json
from probatum.core.status import Status

__all__ = [
    "Estimate",
    "Execution",
    "ExecutionStatus",
    "Finish",
    "Identity",
    "Item",
    "Limits",
    "Mark",
    "Message",
    "Outcome",
    "Program",
    "Prompted",
    "Request",
    "Response",
    "Rolling",
    "Sampling",
    "Scoring",
]


@dataclass(frozen=True, kw_only=True)
class Item:
    """One question of a dataset, as the benchmark defines it."""

    id: str
    fields: Mapping[str, object]
    """What the prompt template may read; plain JSON data."""
    targets: tuple[str, ...] = ()
    """Accepted answers; for multiple choice the gold label."""
    choices: tuple[str, ...] = ()
    """The texts of the options, in order."""
    cluster: str | None = None
    """Items of one cluster (a passage, a template) are not independent."""
    stratum: str | None = None
    """A fixed part of the benchmark (a subject, a language) that is reported on its own."""
    invalid: str | None = None
    """Why the benchmark itself is known to be wrong here: such an item is listed, and never asked."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every field; `invalid` is in it only where it is set."""
        known = {"invalid": self.invalid} if self.invalid is not None else {}
        return digest_json(
            {
                "id": self.id,
                "fields": dict(self.fields),
                "targets": self.targets,
                "choices": self.choices,
                "cluster": self.cluster,
                "stratum": self.stratum,
                **known,
            }
        )


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: str
    """`system`, `user` or `assistant`."""
    content: str


Prompted = str | tuple[Message, ...]
"""A text to be continued, or a conversation to be answered."""


@dataclass(frozen=True, kw_only=True)
class Sampling:
    """How the model is asked to choose tokens. Every field is always sent, defaults included."""

    max_tokens: int = 512
    temperature: float = 0.0
    """0 is greedy: then `seed` is `None`, since nothing is random."""
    top_p: float = 1.0
    top_k: int = 0
    """0 is no limit."""
    stop: tuple[str, ...] = ()
    """Literal strings; generated text ends before the earliest of them."""
    seed: int | None = None


@dataclass(frozen=True, kw_only=True)
class Rolling:
    """Windows over a text that may be longer than the context: each token is scored once.

    The first window scores as many tokens as it holds. Each later one scores the next `stride` tokens (the
    last one, those that are left), with as many tokens before them as the window has room for.
    """

    window: int | None = None
    """Tokens that the model sees at once, the beginning token included; `None` is its whole context."""
    stride: int | None = None
    """1 to `window`; `None` is `window`: the first token of a later window has one token before it."""
    begin_each: bool = False
    """Whether the beginning token stands before every window rather than before the text alone."""


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """How a continuation is scored, wherever harnesses differ. See `docs/likelihood.md`."""

    boundary: Literal["common", "own", "count", "apart"] = "common"
    """Which tokens of prompt + continuation are the continuation's. `common`: those from the first on in
    which they differ from the tokens of the prompt alone. `own`: those behind the prompt's own tokens; where
    the whole does not begin with these, each is tokenised alone, and a remark says so. `count`: as many as
    there are beyond the number of the prompt's own, after the prompt's own (lm-eval). `apart`: each is
    tokenised alone."""
    begin: Literal["tokenizer", "always", "never"] = "tokenizer"
    """Whether the beginning token stands before a prompt; once, also where the prompt writes it."""
    first: Literal["begin", "skip"] = "begin"
    """What a first token with nothing before it is given: `begin` is the beginning token or, in a tokenizer
    without one, that of the end of text; `skip` leaves that token out."""
    overflow: Literal["refuse", "left", "left_bare"] = "refuse"
    """What is done when prompt and continuation do not fit: `context_overflow`, or the prompt is cut from
    the left (`Response.cut_tokens` says by how much), with its beginning token kept or (`left_bare`) lost."""
    rolling: Rolling | None = None
    """Windows over a long continuation; `None`: it is one piece that must fit into the context."""
    begin_twice: bool = False
    """lm-eval's rolling likelihood with a tokenizer that adds a beginning token: that token is scored, too,
    after another one."""


DEFAULT_SCORING = Scoring()


@dataclass(frozen=True, kw_only=True)
class Request:
    """One call to a model. Its digest covers what the model sees, not which item asks."""

    item_id: str
    sample: int = 0
    part: int = 0
    """Place among the requests of one sample (the options of a choice, the turns of a dialogue)."""
    prompt: Prompted
    continuation: str | None = None
    """Set to score this text's log-likelihood after the prompt, rather than to generate."""
    sampling: Sampling = field(default_factory=Sampling)
    scoring: Scoring = DEFAULT_SCORING
    """Of the continuation; where there is none it stays as it is by default, and is not in the digest."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of prompt, continuation and sampling; of the scoring where there is a continuation."""
        sampling = self.sampling
        generates = self.continuation is None and self.scoring == DEFAULT_SCORING
        scoring = [] if generates else [_scoring_form(self.scoring)]
        prompt: object = self.prompt
        if not isinstance(self.prompt, str):
            prompt = [[message.role, message.content] for message in self.prompt]
        return digest_json(
            [
                prompt,
                self.continuation,
                [
                    sampling.max_tokens,
                    float(sampling.temperature),  # 0 and 0.0 are equal, and ask for the same
                    float(sampling.top_p),
                    sampling.top_k,
                    sampling.stop,
                    sampling.seed,
                ],
                *scoring,
            ]
        )

    @cached_property
    def key(self) -> str:
        """What a response names: request digest and sample index."""
        return f"{self.digest}:{self.sample}"


def _scoring_form(scoring: Scoring) -> list[object]:
    rolling = scoring.rolling
    windows = None if rolling is None else [rolling.window, rolling.stride, rolling.begin_each]
    return [
        scoring.boundary,
        scoring.begin,
        scoring.first,
        scoring.overflow,
        windows,
        scoring.begin_twice,
    ]


class Finish(StrEnum):
    """Why the model stopped, or why nothing came."""

    STOP = "stop"
    """End of text or a stop string."""
    LENGTH = "length"
    """`max_tokens` or the context was used up."""
    REFUSAL = "refusal"
    FILTERED = "filtered"
    CONTEXT_OVERFLOW = "context_overflow"
    TIMEOUT = "timeout"
    MODEL_ERROR = "model_error"
    INFRA_ERROR = "infra_error"


ANSWERS = frozenset({Finish.STOP, Finish.LENGTH, Finish.REFUSAL, Finish.FILTERED})
"""The model did answer: such a response is kept and is a hit; the rest is asked again."""


@dataclass(frozen=True, kw_only=True)
class Response:
    """What came back, or why nothing did."""

    request: str
    """The `key` of the request that it answers."""
    text: str = ""
    """Generated text alone, before the stop string; never `None`."""
    finish: Finish = Finish.STOP
    stop: str | None = None
    """The stop string that ended it, where one did and the backend knows which."""
    reasoning: str | None = None
    """Reasoning that the API returned apart from the text."""
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    logprobs: tuple[float, ...] | None = None
    """Natural-log probability of each scored token, in order; their sum is the log-likelihood."""
    greedy: bool | None = None
    """Whether every scored token is the likeliest one."""
    tokens: tuple[int, ...] | None = None
    """Numbers of the scored tokens; `None` where the backend cannot tell."""
    scored_bytes: int | None = None
    """UTF-8 bytes of the text that the scored tokens stand for: more than the continuation's where a token
    spans the boundary, fewer where the first token is left out."""
    cut_tokens: int | None = None
    """Tokens of the prompt that were cut from the left so that it fits; 0 says that none were."""
    reason: str | None = None
    """One line: why there is no answer."""
    attempts: int = 1
    seconds: float | None = None
    """From the last sending to the end of the answer."""
    model: str | None = None
    """Name or fingerprint under which the server answered."""

    @property
    def answered(self) -> bool:
        """Whether the model answered at all; only then is the response a hit later."""
        return self.finish in ANSWERS


@dataclass(frozen=True, kw_only=True)
class Identity:
    """Which model answers. What is not known is `None`, and is printed as "unknown"."""

    provider: str
    name: str
    revision: str | None = None
    weights: str | None = None
    """SHA-256 of the weights."""
    tokenizer: str | None = None
    """SHA-256 of the tokenizer."""
    template: str | None = None
    """SHA-256 of the chat template."""
    precision: str | None = None
    backend: str | None = None
    """Name and version of the engine."""
    settings: Mapping[str, object] = field(default_factory=dict)
    """Whatever else changes the answers (endpoint, context length, threads, …)."""

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every field: the model's part of a response's key."""
        return digest_json(
            {
                "provider": self.provider,
                "name": self.name,
                "revision": self.revision,
                "weights": self.weights,
                "tokenizer": self.tokenizer,
                "template": self.template,
                "precision": self.precision,
                "backend": self.backend,
                "settings": dict(self.settings),
            }
        )


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one execution may use."""

    cpu_seconds: float = 3.0
    wall_seconds: float = 60.0
    """Backstop only: work is limited by CPU seconds."""
    memory_bytes: int = 1 << 30
    processes: int = 32
    output_bytes: int = 1 << 20
    """Kept of stdout and stderr together; more ends the execution."""
    file_bytes: int = 16 << 20


@dataclass(frozen=True, kw_only=True)
class Program:
    """Code to run in the sandbox, with the benchmark's tests kept apart from it."""

    code: str
    """The candidate's whole source: what the model wrote, and what the prompt gave."""
    tests: str
    """The benchmark's own test code, the call included (`check(add)`); never model text."""
    entry_points: tuple[str, ...] = ()
    """Names that the tests take from the candidate."""
    mode: str = "split"
    """`split`: tests run in another process and see plain data only; `joint`: in the candidate's."""
    language: str = "python"
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of every field."""
        limits = self.limits
        return digest_json(
            [
                self.language,
                self.mode,
                self.code,
                self.tests,
                self.entry_points,
                [
                    float(limits.cpu_seconds),
                    float(limits.wall_seconds),
                    limits.memory_bytes,
                    limits.processes,
                    limits.output_bytes,
                    limits.file_bytes,
                ],
            ]
        )


class ExecutionStatus(StrEnum):
    """How an execution ended. `sandbox_error` is ours and never the program's failure."""

    PASSED = "passed"
    ASSERTION_FAILED = "assertion_failed"
    EXCEPTION = "exception"
    SYNTAX_ERROR = "syntax_error"
    TIMEOUT = "timeout"
    MEMORY_LIMIT = "memory_limit"
    OUTPUT_LIMIT = "output_limit"
    EXIT_CALLED = "exit_called"
    KILLED_BY_SIGNAL = "killed_by_signal"
    PROTOCOL_VIOLATION = "protocol_violation"
    NO_CALLS = "no_calls"
    SANDBOX_ERROR = "sandbox_error"


@dataclass(frozen=True, kw_only=True)
class Execution:
    """How one program ended, and what it used."""

    program: str
    """The `digest` of the program."""
    status: ExecutionStatus
    detail: str | None = None
    """Exception type, kind of timeout (`cpu`, `idle`, `wall`), exit code or signal number."""
    message: str | None = None
    """Text of the exception, bounded and safe to print."""
    cpu_seconds: float | None = None
    wall_seconds: float | None = None
    peak_rss_bytes: int | None = None
    stdout: str = ""
    stderr: str = ""
    isolation: str = ""
    """Rung of the ladder that held it (`namespaces`, `bubblewrap`, …)."""
    verdict_trust: str = "split"
    """`split`: decided outside the candidate's process; `in_process`: inside, see the docs."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The verdict on one sample."""

    item_id: str
    sample: int
    status: Status
    scores: Mapping[str, float] = field(default_factory=dict)
    """Set only when `scored`; every metric's key is there."""
    answer: str | None = None
    """What was extracted."""
    rule: str | None = None
    """The extraction rule that found it."""
    span: tuple[int, int] | None = None
    """Where it stands in the response's text, in characters."""
    reason: str | None = None
    """One line: why it was not scored, or why it is wrong where that is known."""
    execution: Execution | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """What summarising needs of one outcome: small, because there may be millions."""

    item_id: str
    sample: int
    status: Status
    scores: Mapping[str, float]
    cluster: str | None = None
    stratum: str | None = None


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One number of a report, with all that is needed to defend it."""

    name: str
    value: float | None
    """`None` where it is undefined; then `warnings` says why."""
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    """Units that the interval is over (items), not samples."""
    clusters: int | None = None
    se: float | None = None
    df: float | None = None
    denominator: str = "end_to_end"
    """Which statuses are counted: `capability` or `end_to_end`, or the name of a policy."""
    coverage: float = 1.0
    """Share of the planned samples that are in the denominator."""
    bounds: tuple[float, float] | None = None
    """Value if all missing were wrong … if all were right."""
    chance: float | None = None
    """Score of a blind guess."""
    p_chance: float | None = None
    """One-sided p-value of the test that the score is no better than chance."""
    warnings: tuple[str, ...] = ()

    @classmethod
    def undefined(
        cls, name: str, level: float, *why: str, denominator: str = "end_to_end", coverage: float = 1.0
    ) -> Estimate:
        """No number, and why there is none."""
        return cls(
            name=name,
            value=None,
            low=None,
            high=None,
            level=level,
            method="none",
            n=0,
            denominator=denominator,
            coverage=coverage,
            warnings=why,
        )
