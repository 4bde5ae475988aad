"""A run as a run of Weights & Biases or of MLflow: metrics, parameters, and the bundle as an artifact.

Where it goes is told to their clients as ever: `WANDB_MODE`, `WANDB_BASE_URL`, `MLFLOW_TRACKING_URI`.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from probatum.core.errors import ProbatumError, UsageError
from probatum.report.bundle import write_bundle
from probatum.report.sending.figures import check_valid, metrics_of, params_of
from probatum.runner import EvaluatedRun

__all__ = ["PROJECT", "TRACKERS", "Sent", "send"]

PROJECT: Final = "probatum"
"""Project of Weights & Biases, or experiment of MLflow, where nobody names one."""
AT_ONCE: Final = 100
"""Parameters that MLflow takes in a call; of metrics it takes 1,000."""
LONGEST: Final = 5000
"""Characters of a parameter; MLflow takes 6,000."""


@dataclass(frozen=True)
class Sent:
    """What was sent, and where it is there."""

    to: str
    run: str
    project: str
    id: str
    """The tracker's own."""
    metrics: int
    params: int
    bundle: str | None
    """SHA-256 of the bundle that is beside it."""


@dataclass(frozen=True)
class _Parcel:
    """What goes out."""

    run: EvaluatedRun
    project: str
    metrics: Mapping[str, float]
    params: Mapping[str, str]
    bundle: Path | None
    digest: str | None

    @property
    def name(self) -> str:
        """Of the run, for people."""
        model = self.run.record.model
        return f"{model.provider}/{model.name} {self.run.id}"


def send(
    run: EvaluatedRun, to: str, *, project: str = PROJECT, bundle: bool = True, redact: bool = False
) -> Sent:
    """Sends a run to a tracker.

    Args:
        run: with its store.
        to: `wandb` or `mlflow`.
        project: of theirs; made where it is not there.
        bundle: whether the bundle goes with it, texts of items and answers included.
        redact: writes digests in place of those texts.

    Raises:
        UsageError: another tracker, one that is not installed, one that refuses, or a run that is invalid.
    """
    if to not in TRACKERS:
        raise UsageError(f"{to!r} is no tracker: use {' or '.join(TRACKERS)}")
    check_valid(run)
    with tempfile.TemporaryDirectory(prefix="probatum-") as folder:
        path, digest = None, None
        if bundle:
            path = Path(folder, f"{run.id}.zip")
            digest = write_bundle(path, run, redact=redact).digest
        params = params_of(run) | ({} if digest is None else {"bundle sha256": digest})
        parcel = _Parcel(run, project, metrics_of(run), params, path, digest)
        with _told(to):
            known = TRACKERS[to](parcel)
    return Sent(to, run.id, project, known, len(parcel.metrics), len(parcel.params), digest)


@contextlib.contextmanager
def _told(to: str) -> Iterator[None]:
    """What their client raises, as one line of ours."""
    try:
        yield
    except (ProbatumError, KeyboardInterrupt):
        raise
    except ImportError as error:
        raise UsageError(
            f"{to} cannot be imported ({error}): pip install 'probatum[{to}]', or name another with --to"
        ) from error
    except Exception as error:  # their clients have no common base, and theirs is the last word
        said = " ".join(str(error).split())[:300]
        raise UsageError(
            f"{to} refused the run ({type(error).__name__}: {said}); nothing more is sent"
        ) from error


def _to_wandb(parcel: _Parcel) -> str:
    import wandb  # noqa: PLC0415 - an extra, and slow to import

    run = wandb.init(
        project=parcel.project,
        name=parcel.name,
        job_type="evaluation",
        config=dict(parcel.params),
        settings=wandb.Settings(silent=True, console="off", x_disable_stats=True, disable_git=True),
    )
    try:
        run.summary.update(dict(parcel.metrics))
        if parcel.bundle is not None:
            artifact = wandb.Artifact(
                f"probatum-{parcel.run.id}", type="evaluation", metadata={"sha256": parcel.digest}
            )
            artifact.add_file(str(parcel.bundle))
            run.log_artifact(artifact)
    except BaseException:
        run.finish(exit_code=1)
        raise
    run.finish()
    return str(run.id)


def _to_mlflow(parcel: _Parcel) -> str:
    from mlflow.entities import Metric, Param, RunTag  # noqa: PLC0415 - an extra, and slow to import
    from mlflow.tracking import MlflowClient  # noqa: PLC0415 - the same

    client = MlflowClient()
    found = client.get_experiment_by_name(parcel.project)
    experiment = client.create_experiment(parcel.project) if found is None else found.experiment_id
    run: str = client.create_run(experiment, run_name=parcel.name).info.run_id
    try:
        metrics = [Metric(name, value, 0, 0) for name, value in parcel.metrics.items()]
        params = [Param(name, value[:LONGEST]) for name, value in parcel.params.items()]
        tags = [RunTag("probatum.run", parcel.run.id), RunTag("probatum.valid", "true")]
        for part in _parts(metrics):
            client.log_batch(run, metrics=part)
        for part in _parts(params):
            client.log_batch(run, params=part)
        client.log_batch(run, tags=tags)
        if parcel.bundle is not None:
            client.log_artifact(run, str(parcel.bundle))
    except BaseException:
        client.set_terminated(run, "FAILED")
        raise
    client.set_terminated(run, "FINISHED")
    return run


def _parts(values: Sequence[Any]) -> Iterator[list[Any]]:
    for start in range(0, len(values), AT_ONCE):
        yield list(values[start : start + AT_ONCE])


TRACKERS: Final[Mapping[str, Callable[[_Parcel], str]]] = {"wandb": _to_wandb, "mlflow": _to_mlflow}
"""Name → what sends to it, and gives its own name of the run."""
