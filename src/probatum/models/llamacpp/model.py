"""A model in a GGUF file, answered in process by llama.cpp."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from probatum.core.errors import ModelError, UsageError
from probatum.core.records import Finish, Identity, Prompted, Request, Response
from probatum.models.chat import ChatTemplate, RenderingError
from probatum.models.decoding import Sample, answered_at_once, sampling_fault
from probatum.models.feeding import Feeder
from probatum.models.likelihood import plan_request
from probatum.models.llamacpp import embedded
from probatum.models.llamacpp.batching import Batching
from probatum.models.llamacpp.engine import Engine, Shape
from probatum.models.llamacpp.gguf import GgufModel, read_model
from probatum.models.llamacpp.library import load_library
from probatum.models.llamacpp.likelihood import LlamaVocabulary, Scored, score
from probatum.models.llamacpp.settings import LlamaSettings
from probatum.models.seam import Capabilities
from probatum.models.settings import nearest, read_settings
from probatum.models.template_text import text_of_its_own
from probatum.models.threads import available_cores

__all__ = ["LlamaModel", "load"]

BLOCK: Final = 1024
"""Continuations that are scored together at most."""

PATIENCE_SECONDS: Final = 1.0
"""Longest wait for more continuations, once there is one."""

SAMPLER: Final = "temperature, top-k, top-p"
"""Recorded: another order gives other answers."""


def load(name: str, settings: Mapping[str, object]) -> LlamaModel:
    """The model `llamacpp/NAME`: the embedded one by its name, or a GGUF file by its path.

    Raises:
        UsageError: the extra is not installed, no such name, or a setting that cannot be used.
        ModelError: the file is missing, damaged, or not a model that llama.cpp can run.
    """
    chosen = read_settings("llamacpp", settings, LlamaSettings)
    if name == embedded.NAME:
        return LlamaModel(name, embedded.embedded_file(), chosen)
    path = Path(name).expanduser()
    if path.suffix != ".gguf" and not path.exists():
        raise UsageError(
            f"no embedded model {name!r}{nearest(name, [embedded.NAME])}: "
            f"give 'llamacpp/{embedded.NAME}' or 'llamacpp/PATH.gguf'"
        )
    return LlamaModel(path.name, path, chosen)


class LlamaModel:
    """Continuous batching over slots; what a request gets depends on nothing but the request."""

    def __init__(self, name: str, path: Path, settings: LlamaSettings) -> None:
        """Checks the file, then loads it."""
        library = load_library()
        library.verbose = settings.verbose
        self._file = read_model(path)
        self._settings = settings
        shape = Shape(
            slots=settings.slots,
            context_tokens=settings.context_tokens,
            batch_tokens=settings.batch_tokens,
            threads=settings.threads or available_cores(),
        )
        self._engine = Engine(library, self._file, shape)
        self._batching = Batching(self._engine, settings.slots)
        self._vocabulary = LlamaVocabulary(self._engine, special=settings.special_tokens)
        self._answering = threading.Lock()
        """Held while an iterator of `answer` is in use."""
        self._working = threading.Lock()
        """Held while the engine works, so that closing waits for the end of a step."""
        self._template = self._read_template(self._file)
        self._identity = self._identify(name, f"xllamacpp {library.version}")

    @property
    def identity(self) -> Identity:
        """The file by its digest, and the settings that change answers."""
        return self._identity

    @property
    def capabilities(self) -> Capabilities:
        """Chat only with a template of the model's own."""
        return Capabilities(
            completion=True,
            chat=self._template is not None,
            score=True,
            context_tokens=self._engine.context_tokens,
            # Rows of one expert are computed together, so that company changes the order of additions;
            # and GPU kernels were not examined. One slot has no company.
            reproducible=self._settings.slots == 1
            or (self._engine.trims and not self._file.experts and not self._engine.offloads),
        )

    def answer(self, requests: Iterable[Request]) -> Iterator[Response]:
        """Answers every request once, in the order in which they are done.

        Decodes in the thread that iterates; `requests` is pulled in another. If `requests` raises, what is
        in flight is finished and yielded first.

        Raises:
            ModelError: the model is closed, is answering another call, or is asked for what it cannot do.
        """
        if not self._answering.acquire(blocking=False):
            raise ModelError(
                f"model {self._identity.name!r} is answering another call: take all its responses, or close "
                "that iterator, first"
            )
        feeder = Feeder(requests, name="llamacpp requests")
        try:
            yield from self._answer(feeder)
            feeder.raise_failure()
        except BaseException:  # also Ctrl-C, and an iterator that is closed early
            self._batching.reset()
            raise
        finally:
            feeder.stop()
            self._answering.release()

    def count_tokens(self, prompt: Prompted) -> int | None:
        """Tokens of the rendered prompt; `None` if it cannot be rendered.

        May be called from any thread, also while the model answers.
        """
        try:
            return len(self._tokens(prompt))
        except (RenderingError, UnicodeEncodeError):
            return None

    def close(self) -> None:
        """Frees the model's memory. A second call does nothing."""
        with self._working:
            self._engine.close()

    def _answer(self, feeder: Feeder) -> Iterator[Response]:
        batching = self._batching
        waiting: list[Request] = []
        """Continuations that are scored together: what they share is computed once."""
        while True:
            while batching.room and len(waiting) < BLOCK:
                patience = PATIENCE_SECONDS if waiting else None
                request = feeder.take(wait=not batching.busy, seconds=patience)
                if request is None:
                    break
                if request.continuation is not None:
                    waiting.append(request)
                    continue
                with self._working:
                    response = self._begin(request)
                if response is not None:
                    yield response
            if waiting and batching.room:
                yield from self._score(waiting)
                waiting = []
            elif batching.busy:
                with self._working:
                    ended = batching.advance()
                yield from ended
            else:
                return

    def _score(self, requests: Sequence[Request]) -> Iterator[Response]:
        """Responses to continuations, as they are done."""
        started = time.monotonic()
        asked = []
        for request in requests:
            planned = plan_request(request, self._text, self._vocabulary, self._engine.context_tokens)
            if isinstance(planned, Response):
                yield planned
            elif planned.stretches:
                asked.append(Scored(request, planned))
            else:
                yield Scored(request, planned).response(started)
        found = score(asked, self._batching)
        while True:
            with self._working:
                one = next(found, None)
            if one is None:
                return
            yield one.response(started)

    def _begin(self, request: Request) -> Response | None:
        """Starts on a request that generates; its response if there is nothing left to do."""
        if (fault := sampling_fault(request.sampling)) is not None:
            return Response(request=request.key, finish=Finish.MODEL_ERROR, reason=fault)
        try:
            tokens = self._tokens(request.prompt)
        except UnicodeEncodeError as error:
            fault = f"the prompt holds half of a surrogate pair at character {error.start}: it is no text"
        except RenderingError as error:
            fault = str(error)
        else:
            if (response := answered_at_once(request, len(tokens), self._engine.context_tokens)) is not None:
                return response
            return self._batching.begin(Sample(request, tokens))
        return Response(request=request.key, finish=Finish.MODEL_ERROR, reason=fault)

    def _tokens(self, prompt: Prompted) -> list[int]:
        """Raises RenderingError, UnicodeEncodeError; ModelError for messages to a base model."""
        special = self._settings.special_tokens or not isinstance(prompt, str)
        return self._engine.tokenize(self._text(prompt), special=special)

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

    def _read_template(self, file: GgufModel) -> ChatTemplate | None:
        if file.template is None:
            return None
        engine = self._engine
        metadata = file.header.metadata
        bos = metadata.get("tokenizer.ggml.bos_token_id", engine.bos)
        return ChatTemplate(
            file.template,
            bos=engine.token_text(bos if isinstance(bos, int) else -1),
            eos=engine.token_text(engine.eos),
            today=self._settings.today,
        )

    def _said(self) -> dict[str, object]:
        """A system prompt that nobody gave: the template's own."""
        said = None if self._template is None else text_of_its_own(self._template)
        return {} if said is None else {"template_says": said}

    def _identify(self, name: str, backend: str) -> Identity:
        today, template = self._settings.today, self._file.template
        return Identity(
            provider="llamacpp",
            name=name,
            weights=self._file.weights,
            tokenizer=self._file.header.tokenizer,
            template=hashlib.sha256(template.encode()).hexdigest() if template is not None else None,
            precision=self._file.header.precision,
            backend=backend,
            settings={
                "context_tokens": self._engine.context_tokens,
                "batch_tokens": self._settings.batch_tokens,
                "rows": "one" if self._engine.rows == 1 else "many",
                "special_tokens": self._settings.special_tokens,
                "today": today.isoformat() if today is not None else None,
                "sampler": SAMPLER,
                **self._said(),
            },
        )
