"""A model of transformers: requests in blocks that share what they can."""

from __future__ import annotations

import hashlib
import itertools
import logging
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import torch
import transformers

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Finish, Identity, Prompted, Request, Response
from probatum.models.chat import ChatTemplate, RenderingError
from probatum.models.decoding import Sample, answered_at_once, sampling_fault
from probatum.models.feeding import Feeder
from probatum.models.hf.files import ModelFiles, find_model
from probatum.models.hf.generation import generate
from probatum.models.hf.network import Network
from probatum.models.hf.settings import HFSettings
from probatum.models.hf.tree import Query
from probatum.models.hf.vocabulary import HFVocabulary
from probatum.models.likelihood import Plan, begun, plan_request, scored_response
from probatum.models.seam import Capabilities
from probatum.models.template_text import text_of_its_own
from probatum.models.threads import available_cores

__all__ = ["HFModel", "open_model"]

Computed = TypeVar("Computed")

_log = logging.getLogger("probatum.models.hf")

NUMBERS: Final = re.compile(r"\d+")
"""Layers and experts in the names of weights."""

BLOCK: Final = 1024
"""Requests whose sequences become one tree."""

BLOCK_CHARACTERS: Final = 8_000_000
"""Characters after which a block is closed: whole documents are long."""

AHEAD: Final = 64
"""Requests pulled before their block begins."""

PATIENCE_SECONDS: Final = 1.0
"""Longest wait for a block to fill, once it has a request."""

CONTEXT_FIELDS: Final = (
    "max_position_embeddings", "n_positions", "n_ctx", "max_seq_len", "seq_length", "context_length"
)  # fmt: skip
"""How configurations name the length of the context; the first that is there counts."""

DEFAULT_CONTEXT: Final = 2048
"""Tokens, where the model's configuration does not say."""

CPU_BUDGET: Final = 512
"""Tokens of a pass: larger intermediate results no longer fit into the caches, and fresh memory costs more
than it saves (measured: the same products, twice the time between them at 1,024)."""

GPU_BUDGET: Final = 8192


def open_model(name: str, settings: HFSettings) -> HFModel:
    """Finds the files, and loads them.

    Raises:
        UsageError: no such name or device.
        ModelError: transformers cannot load it.
    """
    return HFModel(find_model(name), settings)


class HFModel:
    """Requests are gathered in blocks; what their texts share is computed once."""

    def __init__(self, files: ModelFiles, settings: HFSettings) -> None:
        self._settings = settings
        self._files = files
        torch.set_num_threads(settings.threads or available_cores())
        self._device = device = _device(settings.device)
        dtype = _dtype(settings.dtype, device)
        model, tokenizer = _load(files, settings, device, dtype)
        self._vocabulary = HFVocabulary(tokenizer, special=settings.special_tokens)
        self._context = _context(model, settings, files.name)
        budget = settings.batch_tokens or (CPU_BUDGET if device == "cpu" else GPU_BUDGET)
        self.network = Network(
            model, budget=budget, attention=settings.attention, context_tokens=self._context
        )
        template = tokenizer.chat_template
        if isinstance(template, dict):  # several, by name
            template = template.get("default")
        self._template_source = template if isinstance(template, str) else None
        self._template = self._read_template()
        self._speller = _Speller(self._context, self._vocabulary, model)
        self._identity = self._identify(device, dtype)
        self._answering = threading.Lock()
        """Held while an iterator of `answer` is in use."""
        self._working = threading.Lock()
        """Held while the network computes, so that closing waits for the end of a pass."""
        self._closed = False

    @property
    def identity(self) -> Identity:
        """The files by their digests, and what changes the numbers."""
        return self._identity

    @property
    def capabilities(self) -> Capabilities:
        """Chat only with a template of the model's own."""
        return Capabilities(
            completion=True,
            chat=self._template is not None,
            score=True,
            context_tokens=self._context,
            # Packed, the number of rows of a product changes with the company, and with it the last bits of
            # a logit; and GPU kernels were not examined.
            reproducible=not self.network.packed and self._device == "cpu",
        )

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answers every request once, in the order in which they are done.

        Computes in the thread that iterates; `requests` is pulled in another. If `requests` raises, what
        was pulled is answered first.

        Raises:
            ModelError: the model is closed, is answering another call, or memory runs out.
        """
        if not self._answering.acquire(blocking=False):
            raise ModelError(
                f"model {self._identity.name!r} is answering another call: take all its responses, or close "
                "that iterator, first"
            )
        feeder = Feeder(requests, name="hf requests", ahead=AHEAD)
        try:
            while block := _gather(feeder):
                yield from self._answer(block)
            feeder.raise_failure()
        finally:
            feeder.stop()
            self._answering.release()

    def count_tokens(self, prompt: Prompted) -> int | None:
        """Tokens of the rendered prompt, the beginning token included; `None` if it cannot be rendered."""
        try:
            return len(begun(self._vocabulary.encode(self._text(prompt)), self._vocabulary, "tokenizer"))
        except (RenderingError, UnicodeEncodeError):
            return None

    def close(self) -> None:
        """Frees the model's memory. A second call does nothing."""
        with self._working:
            self._closed = True
            self.network.close()

    # ── within ──────────────────────────────────────────────────────────────────────────────────

    def _answer(self, block: Sequence[Request]) -> Iterator[Response]:
        scored = [request for request in block if request.continuation is not None]
        yield from self._score(scored)
        if len(scored) < len(block):
            yield from self._generate([request for request in block if request.continuation is None])

    def _generate(self, requests: Sequence[Request]) -> Iterator[Response]:
        samples = []
        for request in requests:
            begun = self._begin(request)
            if isinstance(begun, Response):
                yield begun
            else:
                samples.append(begun)
        yield from self._computed(generate(self.network, samples, self._speller))

    def _begin(self, request: Request) -> Sample | Response:
        """The sample, or the response where nothing can or need be generated."""
        fault = sampling_fault(request.sampling)
        if fault is None:
            try:
                tokens = begun(
                    self._vocabulary.encode(self._text(request.prompt)), self._vocabulary, "tokenizer"
                )
            except UnicodeEncodeError as error:
                fault = f"the prompt holds half of a surrogate pair at character {error.start}: it is no text"
            except RenderingError as error:
                fault = str(error)
            else:
                fault = self._unknown(tokens)
                if fault is None:
                    return answered_at_once(request, len(tokens), self._context) or Sample(request, tokens)
        return Response(request=request.key, finish=Finish.MODEL_ERROR, reason=fault)

    def _computed(self, found: Iterator[Computed]) -> Iterator[Computed]:
        """Takes one after the other while nobody closes the model."""
        while True:
            with self._working:
                if self._closed:
                    raise ModelError(f"model {self._identity.name!r} is closed: load it again")
                one = next(found, None)
            if one is None:
                return
            yield one

    def _score(self, requests: Sequence[Request]) -> Iterator[Response]:
        started = time.monotonic()
        asked: list[_Asked] = []
        for request in requests:
            planned = plan_request(request, self._text, self._vocabulary, self._context)
            if isinstance(planned, Plan):
                fault = self._unknown([token for one in planned.stretches for token in one.seen + one.scored])
                if fault is None:
                    asked.append(_Asked(request, planned))
                    continue
                planned = Response(request=request.key, finish=Finish.MODEL_ERROR, reason=fault)
            yield planned
        queries: list[Query] = []
        owners: list[tuple[_Asked, int]] = []
        for one in asked:
            for number, stretch in enumerate(one.plan.stretches):
                queries.append(Query(np.array(stretch.evaluated), np.array(stretch.scored)))
                owners.append((one, number))
            if not one.plan.stretches:
                yield one.response(started)
        for answered in self._computed(self.network.score(queries)):
            one, number = owners[answered.query]
            if one.add(number, answered.logprobs, greedy=answered.greedy):
                yield one.response(started)

    def _unknown(self, tokens: Sequence[int]) -> str | None:
        """Why the network cannot take these tokens, if it cannot: some tokenizers know more than it."""
        size = self.network.vocabulary_size
        largest = max(tokens, default=0)
        if largest < size:
            return None
        return f"the tokenizer gives token {largest}, and the model knows {size}: they do not belong together"

    def _text(self, prompt: Prompted) -> str:
        """Raises RenderingError; ModelError for messages to a base model."""
        if isinstance(prompt, str):
            return prompt
        if self._template is None:
            raise ModelError(
                f"model {self._identity.name!r} is a base model: it has no chat template and cannot answer "
                "messages; use --form completion, or an instruct model"
            )
        return self._template.render(prompt)

    def _read_template(self) -> ChatTemplate | None:
        if self._template_source is None:
            return None
        vocabulary = self._vocabulary
        return ChatTemplate(
            self._template_source,
            bos=vocabulary.named(vocabulary.begin),
            eos=vocabulary.named(vocabulary.end),
            today=self._settings.today,
        )

    def _identify(self, device: str, dtype: torch.dtype) -> Identity:
        today, template = self._settings.today, self._template_source
        said = None if self._template is None else text_of_its_own(self._template)
        return Identity(
            provider="hf",
            name=self._files.name,
            revision=self._files.revision,
            weights=self._files.weights,
            tokenizer=self._files.tokenizer,
            template=hashlib.sha256(template.encode()).hexdigest() if template is not None else None,
            precision=str(dtype).removeprefix("torch."),
            backend=f"transformers {transformers.__version__}, torch {torch.__version__}",
            settings={
                "attention": "packed" if self.network.packed else self.network.plain_attention,
                "context_tokens": self._context,
                "device": device.partition(":")[0],
                "special_tokens": self._settings.special_tokens,
                "today": today.isoformat() if today is not None else None,
                **({} if said is None else {"template_says": said}),
                **(
                    {"code": self._files.code}
                    if self._settings.trust_remote_code and self._files.code
                    else {}
                ),
            },
        )


@dataclass(eq=False)
class _Asked:
    """A request whose stretches come in one by one."""

    request: Request
    plan: Plan

    def __post_init__(self) -> None:
        self._parts: list[list[float] | None] = [None] * len(self.plan.stretches)
        self._greedy = True

    def add(self, number: int, logprobs: torch.Tensor, *, greedy: bool) -> bool:
        """Notes the numbers of one stretch; says whether it was the last."""
        self._parts[number] = logprobs.tolist()
        self._greedy &= greedy
        return all(part is not None for part in self._parts)

    def response(self, started: float) -> Response:
        """What it came to."""
        logprobs = tuple(itertools.chain.from_iterable(part or () for part in self._parts))
        seconds = time.monotonic() - started
        return scored_response(self.request, self.plan, logprobs, greedy=self._greedy, seconds=seconds)


class _Speller:
    """What generating needs to know of the model."""

    def __init__(self, context_tokens: int, vocabulary: HFVocabulary, model: Any) -> None:
        self.context_tokens = context_tokens
        self.piece = vocabulary.pieces()
        ends = getattr(model.generation_config, "eos_token_id", None)
        named = ends if isinstance(ends, list) else [ends]
        self._ends = {token for token in (*named, vocabulary.end) if token is not None}

    def ends(self, token: int) -> bool:
        """Whether the token ends the text."""
        return token in self._ends


def _gather(feeder: Feeder) -> list[Request]:
    """The next block. The iterable may wait for answers before it gives more, so no wait is for ever."""
    found: list[Request] = []
    room = BLOCK_CHARACTERS
    while len(found) < BLOCK and room > 0:
        request = feeder.take(wait=True, seconds=PATIENCE_SECONDS if found else None)
        if request is None:
            break
        found.append(request)
        prompt = request.prompt
        contents = [prompt] if isinstance(prompt, str) else [message.content for message in prompt]
        room -= sum(map(len, contents)) + len(request.continuation or "")
    return found


def _device(asked: str) -> str:
    if asked == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if asked == "map":
        return asked
    try:
        device = torch.device(asked)
    except RuntimeError:
        raise UsageError(
            f"setting device={asked!r} of provider 'hf' is no device: give cpu, cuda, cuda:N or map"
        ) from None
    if device.type == "meta":  # it has no numbers
        raise UsageError(
            f"setting device={asked!r} of provider 'hf' computes nothing: give cpu, cuda or cuda:N"
        )
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(
            f"setting device={asked!r} of provider 'hf': torch finds no GPU here; give device=cpu"
        )
    return asked


def _dtype(asked: str, device: str) -> torch.dtype:
    if asked == "auto":
        return torch.float32 if device == "cpu" else torch.bfloat16
    dtype: torch.dtype = getattr(torch, asked)
    return dtype


def _load(files: ModelFiles, settings: HFSettings, device: str, dtype: torch.dtype) -> tuple[Any, Any]:
    """Network and tokenizer."""
    directory, trust = str(files.directory), settings.trust_remote_code
    options: dict[str, Any] = {"device_map": "auto"} if device == "map" else {}
    if not files.has_vocabulary and files.code is None:
        raise ModelError(
            f"{directory!r} has no tokenizer (tokenizer.json or another of its forms): a model is evaluated "
            "with the one that it was trained with; save it beside the weights"
        )
    try:
        with _silent():
            tokenizer = transformers.AutoTokenizer.from_pretrained(directory, trust_remote_code=trust)
            model, told = transformers.AutoModelForCausalLM.from_pretrained(
                directory,
                dtype=dtype,
                trust_remote_code=trust,
                local_files_only=True,
                ignore_mismatched_sizes=True,  # they are told of below
                output_loading_info=True,
                **options,
            )
            if device != "map":
                model = model.to(device)
    except Exception as error:  # files of any kind are read, and code of the model's own may run
        raise _not_loaded(files, error, trust=trust) from error
    wrong = {key: f"{tuple(found)} rather than {tuple(due)}" for key, found, due in told["mismatched_keys"]}
    wrong |= dict.fromkeys(told["missing_keys"], "missing")
    if wrong:
        first = min(wrong)
        raise ModelError(
            f"weights of {directory!r} do not fit its config.json, and would be random: {first!r} is "
            f"{wrong[first]}, {len(wrong)} in all; take both from one place"
        )
    _check_left(model, sorted(told["unexpected_keys"]), directory)
    _check_zeros(model, directory)
    return model.eval().requires_grad_(requires_grad=False), tokenizer


def _check_left(model: Any, left: list[str], directory: str) -> None:
    """Weights of the file that are in no place of the network.

    Heads for other tasks and towers for pictures are told of. A weight that has its like in another layer
    says that the configuration knows fewer layers, or experts, than were trained.
    """
    config = model.config.get_text_config()
    known = {NUMBERS.sub("*", name) for name, _ in model.named_parameters()}
    beyond = [name for name in left if NUMBERS.sub("*", name) in known]
    if beyond and not getattr(config, "num_nextn_predict_layers", None):  # those stand behind the last layer
        raise ModelError(
            f"weights of {directory!r} do not fit its config.json, and would be left out: {beyond[0]!r} is "
            f"one of {len(beyond)}; take both from one place"
        )
    if left:
        _log.warning(
            "%d weights of %r are no part of the language model, such as %r", len(left), directory, left[0]
        )


def _check_zeros(model: Any, directory: str) -> None:
    """Files that were cut short are often as long as they should be, and zero from some place on."""
    matrices = [one for one in model.named_parameters() if one[1].ndim > 1 and not one[1].is_meta]
    # The first row is looked at alone where it tells: weights are mapped, and need not be in memory yet.
    empty = [name for name, weight in matrices if not weight[0].any() and not weight.any()]
    if empty:
        _log.warning(
            "%d of %d weight matrices of %r hold nothing but zeros, such as %r: is the file whole?",
            len(empty),
            len(matrices),
            directory,
            empty[0],
        )


def _not_loaded(files: ModelFiles, error: Exception, *, trust: bool) -> ModelError:
    """What transformers and those below it raised, in a line."""
    told = " ".join(str(error).split())[:300]
    where = str(files.directory)
    if not trust and "trust_remote_code" in str(error):
        return ModelError(
            f"model {files.name!r} brings Python code of its own, which may do anything on this machine: "
            f"read the .py files in {where!r}, then allow them with -M trust_remote_code=true"
        )
    return ModelError(
        f"transformers cannot load {where!r} as a causal language model: {type(error).__name__}: {told}"
    )


@contextmanager
def _silent() -> Iterator[None]:
    """Without transformers' bars and reports: what is wrong is raised, in a line."""
    says = transformers.utils.logging
    bars, level = says.is_progress_bar_enabled(), says.get_verbosity()
    says.disable_progress_bar()
    says.set_verbosity(logging.CRITICAL)
    try:
        yield
    finally:
        says.set_verbosity(level)
        if bars:
            says.enable_progress_bar()


def _context(model: Any, settings: HFSettings, name: str) -> int:
    """Tokens that the model can see at once."""
    config = model.config.get_text_config()
    known = [getattr(config, field, None) for field in CONTEXT_FIELDS]
    trained = next((number for number in known if isinstance(number, int) and number > 0), None)
    asked = settings.context_tokens
    if asked is not None and trained is not None and asked > trained:
        raise ModelError(
            f"context_tokens={asked} is more than the {trained} tokens that model {name!r} was trained for: "
            f"give -M context_tokens={trained} or less"
        )
    if asked is None and trained is None:
        _log.warning(
            "model %r does not say how long its context is: %d tokens are taken", name, DEFAULT_CONTEXT
        )
    return asked or trained or DEFAULT_CONTEXT
