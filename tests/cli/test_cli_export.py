"""export and verify through the real command."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def exported(probatum_here):
    run = json.loads(probatum_here("run", "mini", "--model", "constant/A", "--json").stdout)["run"]
    done = probatum_here("export", "latest", "-o", "run.zip", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return run, json.loads(done.stdout)


def test_a_run_goes_out_and_is_verified_without_its_store(probatum_here, exported, work):
    run, written = exported
    assert (written["run"], written["redacted"]) == (run, False)
    (work / "probatum.db").unlink()
    done = probatum_here("verify", "run.zip", "--digest", written["digest"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"run.zip: whole; run {run}, constant/A, 5 files, texts whole, sha256:")
    plain = json.loads(probatum_here("verify", "run.zip", "--json").stdout)
    assert (plain["whole"], plain["digest"], plain["problems"]) == (True, written["digest"], [])


def test_a_changed_byte_is_named_and_ends_with_1(probatum_here, exported, work):
    whole = bytearray((work / "run.zip").read_bytes())
    place = whole.index(b"# Evaluation card")
    whole[place] ^= 1
    (work / "run.zip").write_bytes(whole)
    done = probatum_here("verify", "run.zip")
    assert done.returncode == 1
    assert done.stdout.startswith("run.zip: card.md: changed")
    plain = json.loads(probatum_here("verify", "run.zip", "--json").stdout)
    assert plain["whole"] is False


def test_another_bundle_than_the_published_one_ends_with_1(probatum_here, exported):
    done = probatum_here("verify", "run.zip", "--digest", "0" * 64)
    assert done.returncode == 1
    assert "another bundle" in done.stdout


def test_results_for_a_model_card(probatum_here, exported, work):
    done = probatum_here("export", "latest", "--to", "hf", "-o", "metadata.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"metadata.yaml: results of run {exported[0]} for a model card\n"
    assert (work / "metadata.yaml").read_text().startswith("model-index:\n- name: A\n")


@pytest.mark.parametrize("name", ["s.jsonl", "s.jsonl.gz", "s.parquet"])
def test_samples_alone(probatum_here, exported, work, name):
    done = probatum_here("export", "constant/A", "-o", name, "--redact")
    assert done.stdout == f"{name}: 60 samples of run {exported[0]}\n"
    assert (work / name).stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("export", "latest", "-o", "s.txt"), "does not say what to write"),
        (("export", "latest", "-o", "no/such/s.zip"), "cannot be written"),
        (("export", "nobody", "-o", "s.zip"), "no run 'nobody'"),
        (("verify", "absent.zip"), "cannot be read"),
    ],
)
def test_errors_are_one_line(probatum_here, exported, arguments, words):
    done = probatum_here(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert words in done.stderr
