"""Tasks that are graded by running code: the sandbox beside the model."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import dataclass, field, replace

import pytest

from probatum import evaluate
from probatum.cli.tables import print_run
from probatum.core.errors import ConsentError, SandboxError
from probatum.core.records import ExecutionStatus, Finish, Outcome
from probatum.core.status import Status
from probatum.runner import Progress
from probatum.sandbox import isolation_report
from probatum.scoring import PassAtK
from tests.fakes import Echo, FakeModel, answer_sums, failure, response_to, sums_task
from tests.runner.runs import FakeSandbox, carry_out, kept, outcomes, statuses

CODE = sums_task(scorer=Echo(), metrics=(PassAtK(ks=(1,)),))


def run_code(model, store, data, sandbox=None, task=CODE, **options):
    return carry_out(task, model, store, data, sandbox=sandbox, allow_code_execution=True, **options)


def test_each_program_is_executed_and_read(store, data):
    def reply(request):
        right = answer_sums(request)
        return right if int(right) % 2 else right + " "

    sandbox = FakeSandbox()
    run = run_code(FakeModel(reply=reply), store, data, sandbox, limit=20)
    assert len(sandbox.executed) == 20
    assert run.estimates[0].value == 0.5
    assert {row[4]["passed"] for row in outcomes(store, run.id)} == {0.0, 1.0}
    assert run.record.environment["isolation"] == "fake"


def test_a_run_that_is_started_again_executes_nothing(store, data):
    progress = Progress()
    run_code(FakeModel(), store, data, limit=10)
    again = FakeSandbox()
    run = run_code(FakeModel(), store, data, again, limit=10, progress=progress)
    assert again.executed == []
    assert (progress.executed, progress.reused_executions) == (0, 10)
    assert statuses(run) == {"scored": 10}


def test_another_environment_executes_again(store, data):
    run_code(FakeModel(), store, data, limit=10)
    other = FakeSandbox(environment_digest="1" * 64)
    run_code(FakeModel(), store, data, other, limit=10)
    assert len(other.executed) == 10


@pytest.mark.parametrize(("deduplicate", "executed"), [(True, 1), (False, 30)])
def test_equal_programs_are_executed_once_unless_the_user_says_otherwise(
    store, tmp_path, deduplicate, executed
):
    (tmp_path / "sums.jsonl").write_text("".join(f'{{"id": "i{n}", "a": 1, "b": 1}}\n' for n in range(10)))
    sandbox = FakeSandbox()
    options = {"samples": 3, "temperature": 1.0, "deduplicate": deduplicate}
    run = run_code(FakeModel(reply=lambda _: "2"), store, tmp_path, sandbox, **options)
    assert len(sandbox.executed) == executed
    assert statuses(run) == {"scored": 30}
    assert run.estimates[0].value == 1.0
    again = FakeSandbox()
    run_code(FakeModel(), store, tmp_path, again, **options)
    assert len(again.executed) == (0 if deduplicate else 30)


def test_what_the_sandbox_failed_at_is_our_failure_and_is_executed_again(store, data):
    def verdict(program):
        return ExecutionStatus.SANDBOX_ERROR if program.code in ("4", "7") else ExecutionStatus.PASSED

    run = run_code(FakeModel(), store, data, FakeSandbox(verdict), limit=10)
    assert statuses(run) == {"scored": 8, "infra_error": 2}
    assert not run.complete
    again = FakeSandbox()
    run = run_code(FakeModel(), store, data, again, limit=10)
    assert [program.code for program in again.executed] == ["4", "7"]
    assert statuses(run) == {"scored": 10}


def test_a_program_that_the_sandbox_loses_is_our_failure_and_does_not_hang(store, data):
    def verdict(program):
        return None if program.code == "4" else ExecutionStatus.PASSED

    run = run_code(FakeModel(), store, data, FakeSandbox(verdict), limit=10)
    assert statuses(run) == {"scored": 9, "infra_error": 1}
    (row,) = [row for row in outcomes(store, run.id) if row[3] == "infra_error"]
    assert row[6] == "the sandbox gave no execution of this program"


def test_a_sandbox_that_raises_stops_the_run_and_what_it_executed_is_kept(store, data):
    def verdict(program):
        return RuntimeError("no worker") if program.code == "31" else ExecutionStatus.PASSED

    with pytest.raises(SandboxError, match="executing failed: RuntimeError: no worker"):
        run_code(FakeModel(), store, data, FakeSandbox(verdict))
    (run,) = store.runs()
    assert (run.state, kept(store, run.id)) == ("failed", 10)
    again = FakeSandbox()
    assert statuses(run_code(FakeModel(), store, data, again)) == {"scored": 100}
    assert len(again.executed) == 90


def test_a_sandbox_that_stops_early_stops_the_run(store, data):
    class Lazy(FakeSandbox):
        def execute(self, programs):
            yield from itertools.islice(super().execute(programs), 3)

    class Slow(FakeModel):
        """Answers the rest only when the run is told to stop, so that the sandbox ends first."""

        def answer(self, requests):
            for number, request in enumerate(requests):
                if number == 50:
                    stop.wait(60)
                yield response_to(request, answer_sums(request))

    stop = threading.Event()
    with pytest.raises(SandboxError, match="stopped while programs were still to come"):
        run_code(Slow(), store, data, Lazy(), stop=stop)
    (run,) = store.runs()
    assert (run.state, kept(store, run.id)) == ("failed", 3)


@dataclass
class Waiting(FakeModel):
    """Answers the next request only after the last one is graded, or after a minute."""

    progress: Progress = field(default_factory=Progress)
    gave_up: bool = False

    def answer(self, requests):
        for number, request in enumerate(requests, 1):
            yield response_to(request, self.reply(request))
            until = time.monotonic() + 60
            while self.progress.done < number and not self.gave_up:
                time.sleep(0.01)
                self.gave_up = time.monotonic() > until


def test_executions_do_not_wait_for_the_next_answer(store, data):
    """A slow model keeps no verdict from being kept: a kill loses what is in flight, and no more."""
    model = Waiting()
    run = run_code(model, store, data, limit=5, progress=model.progress)
    assert not model.gave_up
    assert statuses(run) == {"scored": 5}


@pytest.mark.skipif(
    isolation_report(until_proven=True).level is None, reason="this machine offers no isolation"
)
def test_the_real_sandbox_gives_each_verdict_as_it_falls_and_is_closed_with_the_run(store):
    model = Waiting(reply=lambda _: "    return 1")
    options = {"store": store, "allow_code_execution": True, "workers": 1}
    first = evaluate("mini_code", model=model, progress=model.progress, **options)
    assert not model.gave_up
    assert statuses(first, "mini_code") == {"scored": 10}
    assert first.record.environment["isolation"]
    again = Progress()
    second = evaluate("mini_code", model=model, progress=again, **options)
    assert (again.asked, again.executed, again.reused_executions) == (0, 0, 10)
    assert second.estimates == first.estimates
    assert outcomes(store, second.id) == outcomes(store, first.id)


@pytest.mark.parametrize(
    ("isolation", "told"),
    [("seatbelt (weak)", True), ("namespaces", False), ("unsafe-subprocess", False), (None, False)],
)
def test_a_result_says_that_its_isolation_was_weak(store, data, capsys, isolation, told):
    run = run_code(FakeModel(reply=answer_sums), store, data, limit=2)
    shown = replace(run, record=replace(run.record, environment={"isolation": isolation}))
    print_run(shown)
    words = " ".join(capsys.readouterr().out.split())
    assert ("note: code was executed under seatbelt (weak): `probatum doctor` tells" in words) == told


def test_an_answer_without_a_program_is_not_executed(store, data):
    def reply(request):
        return failure(Finish.CONTEXT_OVERFLOW) if request.item_id == "sum-0" else answer_sums(request)

    sandbox = FakeSandbox()
    run = run_code(FakeModel(reply=reply), store, data, sandbox, limit=5)
    assert len(sandbox.executed) == 4
    assert statuses(run) == {"scored": 4, "context_overflow": 1}


@dataclass(frozen=True)
class Broken(Echo):
    """Raises, or gives nonsense, where `at` says."""

    at: str = ""

    def program(self, item, sample, responses):
        if item.id == "sum-1" and self.at == "program raises":
            raise ValueError("no entry point")
        if item.id == "sum-1" and self.at == "program is text":
            return "print()"
        return super().program(item, sample, responses)

    def verdict(self, item, sample, responses, execution):
        if item.id == "sum-1" and self.at == "verdict raises":
            raise ValueError("no verdict")
        if item.id == "sum-1" and self.at == "verdict without a score":
            return Outcome(item_id=item.id, sample=sample, status=Status.SCORED)
        return super().verdict(item, sample, responses, execution)


@pytest.mark.parametrize(
    "at", ["program raises", "program is text", "verdict raises", "verdict without a score"]
)
def test_a_faulty_scorer_of_programs_is_the_scorers_failure(store, data, at):
    run = run_code(FakeModel(), store, data, task=replace(CODE, scorer=Broken(at=at)), limit=5)
    assert statuses(run) == {"scored": 4, "grader_error": 1}


def test_without_consent_nothing_is_asked_and_the_refusal_says_what_would_run(tmp_path):
    model = FakeModel()
    with pytest.raises(ConsentError) as caught:
        evaluate("mini,mini_code", model=model, store=str(tmp_path / "s.db"))
    message = str(caught.value)
    assert message.startswith("mini_code would execute code that the model writes")
    assert "Isolation of this machine:" in message
    assert "--allow-code-execution" in message
    assert "PROBATUM_ALLOW_CODE_EXECUTION=1" in message
    assert model.asked == []


def test_a_run_that_fails_before_a_program_opens_no_sandbox(store, data):
    """What is only written into the record must not cost a sandbox, nor fail where there is none."""

    class Absent:
        proven = None

        @property
        def environment_digest(self):
            raise SandboxError("no isolation here; install bubblewrap")

        @property
        def isolation(self):
            raise AssertionError("opened only to name it")

    with pytest.raises(SandboxError, match="no isolation here"):
        run_code(FakeModel(), store, data, Absent())
    (run,) = store.runs()
    assert run.state == "failed"
    assert run.environment["isolation"] is None
