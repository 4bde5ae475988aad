"""How published numbers are held against ours, and that every known row comes out."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.published_results import execution, table
from benchmarks.published_results.comparing import compare
from benchmarks.published_results.families import FAMILIES
from benchmarks.published_results.files import Data
from benchmarks.published_results.judges import _scores_in
from benchmarks.published_results.rows import (
    Difference,
    Family,
    Finding,
    NoMaterial,
    Prose,
    Rate,
    Row,
    read_rows,
)
from benchmarks.published_results.several import for_each_file, with_files

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PROBATUM_DATA", ROOT.parent / "shared" / "data"))
ROWS = SHARED.parent / "oracles" / "published.json"


def row(value: object, *inputs: str, name: str = "a") -> Row:
    return Row(name, inputs, "", value)


@pytest.mark.parametrize(
    ("published", "found", "equal"),
    [
        (53.16, 53.1646, True),
        (53.16, 53.1551, True),
        (53.16, 53.1549, False),
        (84.3, 84.34, True),
        (84.3, 84.36, False),
        (0.716, 0.7155, True),
        (0.716, 0.71548, False),
        (61.58536585365854, 61.585365853658544, True),
        (61.58536585365854, 61.585362, False),
        (286, 286, True),
        (286, 287, False),
        (43.75, Rate(0.4375), True),
        (0.4375, Rate(0.4375), True),
        (43.75, 0.4375, False),
    ],
)
def test_numbers_are_equal_to_the_published_digits(published: float, found: float, equal: bool) -> None:
    done = compare(row({"x": published}), Finding(numbers={"x": found}, material=""))
    assert bool(done.equal) is equal
    assert bool(done.unequal) is not equal


def test_names_are_found_at_any_depth_and_what_is_not_is_told() -> None:
    value = {"counts": {"safe|1 full": 3}, "official": [1.5, 2.5], "other": 7, "flag": True, "note": "words"}
    numbers = {"counts": {"safe|1_full": 3}, "official": [1.5, 2.4]}
    done = compare(row(value), Finding(numbers=numbers, material=""))
    assert done.equal == ["counts/safe|1 full", "official/0"]
    assert done.unequal == ["official/1: published 2.5, found 2.4"]
    assert done.not_computed == ["other = 7"]


def test_prose_is_read_for_its_numbers() -> None:
    finding = Finding(
        material="", prose=(Prose(r"pass@1 = ([\d.]+)", 0.5), Prose(r"\((\d+) of", 4), Prose(r"no (\d+)", 1))
    )
    done = compare(row("pass@1 = 0.4999999999999999 (3 of 6 pass)"), finding)
    assert len(done.equal) == 1
    assert done.unequal == [r"value (\((\d+) of): published 3, found 4"]


def test_a_whole_value_may_be_one_number_or_one_text() -> None:
    assert compare(row(84.3), Finding(numbers={"": Rate(0.843)}, material="")).equal == ["value"]
    assert compare(row("101/164"), Finding(numbers={"": "101/164"}, material="")).equal == ["value"]
    assert compare(row("101/164"), Finding(numbers={"": "100/164"}, material="")).unequal != []


def test_rounded_material_may_move_a_number_that_far() -> None:
    finding = Finding(numbers={"x": 50.00004}, material="", tolerance=1e-4)
    assert compare(row({"x": 50.00000000000}), finding).equal == ["x"]


def outcome(monkeypatch: pytest.MonkeyPatch, find: Callable[[Row, Data], Finding]) -> table.Result:
    monkeypatch.setattr(table, "FAMILIES", (Family("test", lambda _: True, find),))
    (result,) = table.make_again([row({"x": 1.0})], Data(Path()))
    return result


def nothing(_: Row, __: Data) -> Finding:
    raise NoMaterial("no outputs")


def broken(_: Row, __: Data) -> Finding:
    raise KeyError("pred")


@pytest.mark.parametrize(
    ("find", "status"),
    [
        (lambda _, __: Finding(numbers={"x": 1.0}, material="m"), "reproduced"),
        (lambda _, __: Finding(numbers={"x": 2.0}, material="m"), "differs"),
        (lambda _, __: Finding(numbers={"x": 2.0}, material="m", explained="item 7"), "explained"),
        (lambda _, __: Finding(numbers={"x": 1.0}, material="m", checks=(("y", 0, 1),)), "differs"),
        (lambda _, __: Finding(numbers={"y": 1.0}, material="m"), "not mapped"),
        (nothing, "explained"),
        (broken, "not mapped"),
    ],
)
def test_how_a_row_comes_out(
    monkeypatch: pytest.MonkeyPatch, find: Callable[[Row, Data], Finding], status: str
) -> None:
    result = outcome(monkeypatch, find)
    assert result.status == status
    assert result.without_material is (find is nothing)


def test_a_row_of_no_family_is_not_mapped() -> None:
    (result,) = table.make_again([row(1.0, "nowhere/file.json", name="zzz")], Data(Path()))
    assert result.status == "not mapped"


def test_the_table_ends_in_its_counts(capsys: pytest.CaptureFixture[str]) -> None:
    results = [
        table.Result(row(1.0), "reproduced", "m", "1 of 1", "x 1", [Difference("7", "a", "b", "why")]),
        table.Result(row(1.0), "explained", "none", "", "", without_material=True),
    ]
    assert table.print_table(results) == {
        "reproduced": 1,
        "explained": 1,
        "differs": 0,
        "not_mapped": 0,
        "without_raw_outputs": 1,
    }
    assert "reproduced" in capsys.readouterr().out


def test_differing_items_are_written_with_their_reasons(tmp_path: Path) -> None:
    results = [table.Result(row(1.0), "reproduced", "", "", "", [Difference("7", "a", "b", "because")])]
    assert table.write_differences(results, tmp_path / "out.jsonl") == 1
    assert '"reason": "because"' in (tmp_path / "out.jsonl").read_text()


@pytest.mark.parametrize(
    ("text", "scores"),
    [
        ("8 9\nBoth are good.", (8.0, 9.0)),
        ("9 8.5\n1 2 3", (9.0, 8.5)),
        ("First, I solve it: f(2, 3).\n\nOutput: (1, 7)", (1.0, 7.0)),
        ("Scores:\nAssistant 1: 10\nAssistant 2: 4\n\nAssistant 1 is better.", (10.0, 4.0)),
        ("I cannot judge.", None),
    ],
)
def test_two_scores_are_found_in_a_review(text: str, scores: tuple[float, float] | None) -> None:
    assert _scores_in(text) == scores


@pytest.mark.parametrize(
    ("inputs", "family"),
    [
        ("bbh/codex_outputs.jsonl.gz", None),
        ("zero_shot_cot/svamp_zero_shot.jsonl.gz", "zero-shot CoT"),
        ("qwen25_coder/1.5b-base/evalplus_mbpp_samples_with_verdicts.jsonl.gz", "EvalPlus"),
        ("qwen25_coder/*/evalplus_humaneval_samples_with_verdicts.jsonl.gz", "HumanEval, executed"),
        ("qwen25_coder/7b-base/multipl-e_humaneval-js_details.jsonl.gz", "MultiPL-E"),
        ("qwen25_coder/1.5b-base/cruxeval_output_cot_completion_scored.json", "CRUXEval"),
        ("cruxeval/codellama7b_t0.2_output_scored.json.gz", "CRUXEval"),
        ("alpaca_eval/v1_preferences_by_model.jsonl.gz", "AlpacaEval"),
        ("vicuna_reviews/review_bard_vicuna-13b.jsonl", "Vicuna's reviews"),
        ("llmbar/processed_MT-Bench_verdicts.jsonl.gz", "LLMBar"),
        ("evalica/gcl.csv", "Krippendorff's alpha"),
        ("evalica/food.csv", "rankings of evalica"),
        ("calibration/538_nhl_games.csv.gz", "forecasts"),
        ("contamination/cd_ceval_annotations.json", "contamination"),
        ("lm_eval_logs/samples_truthfulqa_gen_small.jsonl", "TruthfulQA"),
        ("lm_eval_logs/samples_eqbench_ca_flor760m.jsonl", "EQ-Bench"),
        ("lm_eval_logs/results_llama-3.2-1b_many_tasks.json", "standard errors"),
        ("gaokao_bench/gpt-4-0314_2010-2022_Physics_MCQs.json", "GAOKAO-Bench"),
        ("mercury/gpt-4-1106-preview_eval.json.gz", "Mercury"),
        ("pandalm/testset_v1_labels.jsonl", "PandaLM"),
        ("agents/reflexion_alfworld_success_by_trial.jsonl", "Reflexion"),
        ("mmlu/mmlu_redux_multi_expert_all.csv.gz", "MMLU-Redux"),
        ("xstest/xstest_v2_completions_llama2orig.csv.gz", "XSTest"),
    ],
)
def test_rows_are_known_by_their_files(inputs: str, family: str | None) -> None:
    found = next((each.name for each in FAMILIES if each.fits(row(1.0, inputs))), None)
    assert found == family


def test_patterns_are_replaced_by_their_files_and_numbers_stand_under_what_tells_them_apart(
    tmp_path: Path,
) -> None:
    for name in ("538_nba_games.json", "538_nfl_games.json"):
        (tmp_path / name).write_text("{}")

    def find(one: Row, _: Data) -> Finding:
        return Finding(numbers={"n": len(one.inputs[0])}, material="m", ours={"x": 1.0}, notes=("said",))

    data = Data(tmp_path)
    expanded = with_files(row(1.0, "538_*_games.json", "other.csv"), data)
    assert expanded.inputs == ("538_nba_games.json", "538_nfl_games.json", "other.csv")
    found = for_each_file(find, "538_")(expanded, data)
    assert found.numbers["nba"] == found.numbers["538_nba_games"] == {"n": 18}
    assert (found.numbers["files"], found.notes[0]) == (2, "538_nba_games: said")
    assert for_each_file(find, "538_")(row(1.0, "538_nba_games.json"), data).numbers == {"n": 18}


def published() -> list[Any]:
    if not ROWS.is_file():
        return []
    return read_rows(ROWS)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_published_row_is_reproduced_or_explained_by_its_items(tmp_path: Path) -> None:
    rows = published()
    if not rows:
        pytest.skip("needs oracles/published.json beside the shared data (PROBATUM_DATA)")
    execution.set_policy(everything=False, store=tmp_path / "executions.db")
    results = list(table.make_again(rows, Data(SHARED)))
    failed = [
        (each.row.id, each.status, each.notes)
        for each in results
        if each.status not in ("reproduced", "explained")
    ]
    assert failed == []
    for each in results:
        if each.status == "explained":
            assert each.without_material or each.differences, each.row.id
    assert sum(each.status == "reproduced" for each in results) >= 78
