"""Every text of a report, in each language: one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from probatum.core.errors import UsageError
from probatum.core.status import Status

__all__ = ["LANGUAGES", "MESSAGES", "Words", "words"]

LANGUAGES: Final = ("en", "zh")

MESSAGES: Final[dict[str, tuple[str, str]]] = {
    # ── the page ──
    "title": ("Evaluation report: {models}", "评测报告：{models}"),
    "contents": ("Contents", "目录"),
    "skip": ("Skip to the content", "跳到正文"),
    "script_tools": ("Choose among the examples", "筛选样例"),
    "script_find": ("Find", "查找"),
    "script_kind": ("Kind", "类别"),
    "script_all": ("all kinds", "全部类别"),
    "script_back": ("Previous page", "上一页"),
    "script_next": ("Next page", "下一页"),
    "script_open": ("Open all shown", "全部展开"),
    "script_close": ("Close all shown", "全部收起"),
    "script_shown": (
        "{shown} of {found} examples shown, page {page} of {pages}",
        "共 {found} 个样例，显示 {shown} 个，第 {page} 页，共 {pages} 页",
    ),
    "made": (
        "Made by probatum {version} at {moment} from what the store holds; no model was asked for it.",
        "由 probatum {version} 于 {moment} 根据存储内容生成；生成报告时没有调用任何模型。",
    ),
    "english_parts": (
        "Warnings, notes and the card's values are in English, as they were written down.",
        "警告、备注和评测卡的内容按记录原样以英文显示。",
    ),
    "invalid_run": (
        "INVALID: run {run} breaks what must hold of any run. Do not use its numbers.",
        "无效：运行 {run} 违反了任何运行都必须满足的条件。请勿使用其中的数字。",
    ),
    "valid_run": (
        "Every count adds up: the invariants of run {run} hold.",
        "所有计数均吻合：运行 {run} 的不变量全部成立。",
    ),
    "unfinished": (
        "Run {run} is {state}: {graded} of {planned} samples of {task} are graded, and no result is claimed.",
        "运行 {run} 的状态为 {state}：任务 {task} 的 {planned} 个样本中已评分 {graded} 个，因此不给出结果。",
    ),
    "state_note": (
        "Run {run} is {state}, not complete.",
        "运行 {run} 的状态为 {state}，尚未完成。",
    ),
    # ── summary ──
    "summary": ("Summary", "摘要"),
    "summary_caption": ("The first result of each task", "每个任务的首要结果"),
    "summary_figure": ("{task}: {name}", "{task}：{name}"),
    "summary_figure_text": (
        "Value and {level} interval of each run; the table above has the numbers.",
        "各次运行的取值与 {level} 区间；数字见上表。",
    ),
    "endings": ("How samples ended: what is in the denominators", "样本如何结束：分母中有什么"),
    "endings_text": (
        (
            "Each bar is all graded samples of a task, from left to right by status; the table says how many "
            "are compared, counted as wrong, and in no rate."
        ),
        "每条为一个任务的全部已评分样本，从左到右按状态排列；表中给出已比对、计为错误和不计入任何比率的数量。",
    ),
    "endings_scored": ("Scored", "已评分"),
    "endings_wrong": ("Counted as wrong", "计为错误"),
    "endings_missing": ("Missing", "缺失"),
    "endings_broken": ("Broken items", "无效题目"),
    "planned": ("Planned", "计划"),
    "graded": ("Graded", "已有结果"),
    "run": ("Run", "运行"),
    "model": ("Model", "模型"),
    "task": ("Task", "任务"),
    "state": ("State", "状态"),
    "started": ("Started", "开始时间"),
    "updated": ("Last updated", "最后更新"),
    "measure": ("Measure", "指标"),
    "value": ("Value", "取值"),
    "interval": ("Interval", "区间"),
    "items": ("Items", "题目数"),
    "clusters": ("Clusters", "簇数"),
    "coverage": ("Coverage", "覆盖率"),
    "missing_span": ("If all missing were wrong … right", "缺失全错 … 全对时"),
    "chance": ("Chance", "随机水平"),
    "p_chance": ("p against chance", "相对随机的 p 值"),
    "denominator": ("Denominator", "分母"),
    "method": ("Method", "方法"),
    "undefined": ("undefined", "未定义"),
    "no_interval": ("no interval", "无区间"),
    # ── a task ──
    "of_run": ("Run {letter}: {model}", "运行 {letter}：{model}"),
    "task_title": ("Task {task}", "任务 {task}"),
    "results": ("Results", "结果"),
    "results_caption": ("Estimates of {task}", "{task} 的估计值"),
    "results_text": (
        (
            "Intervals are at {level} and over items, not samples; {clusters}. Each estimate says what its "
            "denominator counts."
        ),
        "区间的置信水平为 {level}，以题目（而非样本）为单位；{clusters}。每个估计值都注明其分母。",
    ),
    "clusters_own": ("every item stands for itself", "每道题相互独立"),
    "clusters_some": (
        "{items} items in {clusters} clusters, which are taken as not independent within",
        "{items} 道题分属 {clusters} 个簇，簇内不视为独立",
    ),
    "chance_known": (
        "A blind guess scores {chance}; the dashed line marks it.",
        "盲猜得分为 {chance}，图中以虚线标出。",
    ),
    "chance_unknown": (
        "No score of a blind guess is declared for this task.",
        "该任务没有声明盲猜得分。",
    ),
    "chance_line": ("chance {chance}", "随机水平 {chance}"),
    "zero_line": ("no difference", "无差异"),
    "forest_text": (
        "Points are values, bars their {level} intervals; the table has the numbers.",
        "圆点为取值，横线为 {level} 区间；数字见表格。",
    ),
    "statuses": ("How samples ended", "样本如何结束"),
    "statuses_text": (
        (
            "{planned} samples were planned, {graded} are graded. What the policy “{policy}” makes "
            "of each status stands in the table."
        ),
        "计划 {planned} 个样本，已评分 {graded} 个。规则“{policy}”如何计入各状态见表。",
    ),
    "statuses_caption": ("Statuses of the samples of {task}", "{task} 的样本状态"),
    "statuses_figure": ("Shares of the statuses of {task}", "{task} 各状态的占比"),
    "status": ("Status", "状态"),
    "samples": ("Samples", "样本数"),
    "share": ("Share", "占比"),
    "meaning": ("Meaning", "含义"),
    "counted_as": ("Counted as", "计为"),
    "as_scored": ("its score", "其得分"),
    "as_wrong": ("wrong", "错误"),
    "as_missing": ("missing: in no rate, widens the bounds", "缺失：不计入任何比率，只放宽上下界"),
    "as_invalid": ("nothing: listed", "不计：仅列出"),
    "slices": ("Slices", "分组结果"),
    "slices_text": (
        "Intervals of {count} slices stand each for itself: with so many, some look good or bad by chance.",
        "{count} 个分组的区间各自独立：分组多时，总有一些会因偶然而显得好或差。",
    ),
    "slices_caption": ("Estimates by stratum", "各分层的估计值"),
    "slice": ("Slice", "分组"),
    "slices_cut": (
        "{shown} of {count} slices are shown; `--format json` has all.",
        "共 {count} 个分组，此处显示 {shown} 个；`--format json` 中有全部。",
    ),
    "passk": ("pass@k", "pass@k"),
    "passk_text": (
        "The chance that at least one of k samples passes, without bias, over items.",
        "k 个样本中至少一个通过的概率（无偏估计，以题目为单位）。",
    ),
    "passk_k": ("k (samples)", "k（样本数）"),
    "share_right": ("share right", "正确率"),
    "calibration": ("Confidence", "置信度"),
    "calibration_text": (
        "{n} answers carry a probability. On the dashed line the model is as often right as it says.",
        "{n} 个回答带有概率。落在虚线上表示模型的正确率与其声称的一致。",
    ),
    "reliability": ("Reliability diagram", "可靠性图"),
    "confidence": ("confidence", "置信度"),
    "bin": ("Bin", "区段"),
    "mean_confidence": ("Mean confidence", "平均置信度"),
    "risk": ("Risk and coverage", "风险—覆盖率"),
    "risk_text": (
        (
            "The share of errors among the surest answers, over the share of answers given; {shown} of "
            "{reachable} points are drawn."
        ),
        "只回答最有把握的部分时的错误率；横轴为回答的比例。共 {reachable} 个点，绘出 {shown} 个。",
    ),
    "risk_caption": ("Error among the surest answers", "最有把握的回答中的错误率"),
    "answered": ("share answered", "回答比例"),
    "error": ("share of errors", "错误率"),
    "threshold": ("Threshold", "阈值"),
    "lengths": ("Score against length of the answer", "得分与回答长度"),
    "lengths_text": (
        (
            "{samples} answers in bins of about equal size, by length in {unit}. An association: hard "
            "questions may make both long and wrong answers."
        ),
        "{samples} 个回答按长度（{unit}）分成大小相近的组。这只是相关：难题可能同时带来更长和更错的回答。",
    ),
    "unit_tokens": ("tokens", "词元"),
    "unit_characters": ("characters", "字符"),
    "length": ("Length", "长度"),
    "mean_length": ("Mean length", "平均长度"),
    "length_axis": ("mean length ({unit})", "平均长度（{unit}）"),
    "mean_score": ("mean score", "平均得分"),
    "noise": ("Asked twice", "重复提问"),
    "noise_text": (
        "{samples} of {of} samples were asked again ({requests} requests), {answered} answered; in no score.",
        "{of} 个样本中有 {samples} 个被再次提问（{requests} 个请求），{answered} 个得到回答；不计入得分。",
    ),
    "noise_scored": ("Nothing is sampled.", "没有采样。"),
    "noise_greedy_claimed": (
        "Decoding is greedy, and the backend claims to answer the same whatever else is asked.",
        "贪心解码；后端声称无论同时提出什么其他请求，回答都相同。",
    ),
    "noise_greedy": (
        "Decoding is greedy; the backend does not claim to answer the same whatever else is asked.",
        "贪心解码；后端并未声称在同时有其他请求时回答相同。",
    ),
    "noise_sampled_claimed": (
        "Sampled with the same seeds; the backend claims that a seed gives one text.",
        "以相同的种子采样；后端声称同一种子给出同一文本。",
    ),
    "noise_sampled": (
        "Sampled with the same seeds, of which the backend does not claim that each gives one text.",
        "以相同的种子采样；后端并未声称同一种子给出同一文本，每次回答都可能是另一次抽样。",
    ),
    "noise_changed": (
        "The second answers score otherwise: something changed between the two.",
        "第二次回答的得分不同：两次提问之间发生了变化。",
    ),
    "noise_numbers": (
        "The noise floor, the standard deviation that asking alone gives, beside the standard error",
        "噪声下限（仅由重复提问引起的得分标准差）与标准误",
    ),
    "noise_floor": ("Noise floor", "噪声下限"),
    "noise_most": ("At most", "至多"),
    "standard_error": ("Standard error", "标准误"),
    "noise_likely": (
        "Log-probabilities of {n} continuations, asked twice",
        "{n} 个续写的对数概率（两次提问）",
    ),
    "median_difference": ("Median difference", "差的中位数"),
    "largest_difference": ("Largest difference", "最大差"),
    "positions": ("Places of the options", "选项位置"),
    "positions_text": (
        "How often each place was chosen, and is right. A model that knows shows the same of both.",
        "各位置被选择的次数与正确答案所在的次数。真正会做的模型两者应当一致。",
    ),
    "place": ("Place", "位置"),
    "chosen": ("Chosen", "被选次数"),
    "right_here": ("Right", "正确次数"),
    "found_here": ("Found where right", "正确时选中率"),
    "failures": ("Failures", "失败类型"),
    "failures_none": ("Every sample was scored.", "所有样本均已评分。"),
    "reasons_caption": ("Why samples were not scored", "样本未评分的原因"),
    "reason": ("Reason", "原因"),
    "rules_caption": ("Rules that read the answers", "读取答案的规则"),
    "rule": ("Rule", "规则"),
    "executions_caption": ("How programs ended", "程序如何结束"),
    "ended": ("Ended", "结束方式"),
    "examples": ("Examples", "样例"),
    "examples_text": (
        (
            "At most {most} samples of each kind, chosen by the digest of their ids and not for their looks: "
            "{shown} of {total}. Long texts are cut where it says so. `run.samples()` gives all of them."
        ),
        (
            "每类最多 {most} 个样本，按编号的摘要选取，而非挑选：共 {total} 个，显示 {shown} 个。"
            "长文本在标明处截断；`run.samples()` 给出全部完整样本。"
        ),
    ),
    "examples_cut": (
        "Fewer were shown than asked for, so that the file stays small.",
        "为控制文件大小，显示的样例少于要求的数量。",
    ),
    "examples_none": ("No examples were asked for.", "未要求显示样例。"),
    "group": ("{group}: {shown} of {total}", "{group}：{total} 个中的 {shown} 个"),
    "group_right": ("Scored, right", "已评分，正确"),
    "group_wrong": ("Scored, wrong", "已评分，错误"),
    "group_partly": ("Scored, partly right", "已评分，部分正确"),
    "group_measured": ("Scored", "已评分"),
    "example": ("item {item}, sample {sample}", "题目 {item}，样本 {sample}"),
    "prompt": ("Prompt", "提示"),
    "role": ("Turn: {role}", "角色：{role}"),
    "output": ("Raw output", "原始输出"),
    "output_marked": ("Raw output; what was read is marked", "原始输出（读取的部分已标出）"),
    "no_output": ("no output is kept", "没有保存输出"),
    "empty_output": ("the output is empty", "输出为空"),
    "reasoning": ("Reasoning, apart from the output", "推理过程（与输出分开）"),
    "options": ("Continuations that were scored", "被评分的续写"),
    "continuation": ("Continuation", "续写"),
    "log_likelihood": ("Log-likelihood", "对数似然"),
    "tokens": ("Tokens", "词元数"),
    "verdict": ("Verdict", "判定"),
    "targets": ("Accepted answers", "可接受的答案"),
    "choices": ("Options", "选项"),
    "answer": ("Answer read", "读取的答案"),
    "evidence": ("Read by", "读取依据"),
    "evidence_value": ("rule {rule}, characters {start} to {end}", "规则 {rule}，第 {start} 至 {end} 个字符"),
    "evidence_rule": ("rule {rule}", "规则 {rule}"),
    "scores": ("Scores", "得分"),
    "finish": ("Model stopped by", "模型停止原因"),
    "execution": ("Execution", "执行"),
    "stratum": ("Stratum", "分层"),
    "cut_tokens": ("Prompt tokens that the model did not see", "模型未看到的提示词元数"),
    "left_out": ("… {count} characters left out …", "……省略 {count} 个字符……"),
    "contamination": ("Contamination", "数据污染"),
    "contamination_text": (
        (
            "Not checked: nothing is written down of whether the model has seen these items. "
            "`probatum audit CORPUS --task {task}` looks for them in a corpus."
        ),
        "未检查：没有记录表明模型是否见过这些题目。`probatum audit CORPUS --task {task}` 可在语料中查找。",
    ),
    "corpus_text": (
        (
            "A corpus was searched for the items (documents: {documents}, by {n}-grams of {unit}). A score "
            "that is higher where the corpus holds the item may come from memory, or from easier items."
        ),
        (
            "在含 {documents} 篇文档的语料中按 {n} 元组（{unit}）查找了这些题目。语料含有的题目得分更高，"
            "可能出于记忆，也可能因为题目更容易。"
        ),
    ),
    "corpus_caption": ("The score by what the corpus holds", "按语料包含情况的得分"),
    "corpus_unknown": (
        "{count} items of the run are not in the audit: it was of other items.",
        "运行中有 {count} 道题目不在检查结果中：该检查针对的是其他题目。",
    ),
    "overlap": ("The corpus holds", "语料包含"),
    "notes": ("Notes and warnings", "备注与警告"),
    "notes_none": ("None.", "无。"),
    "card": ("Evaluation card of run {run}", "运行 {run} 的评测卡"),
    "field": ("Field", "字段"),
    # ── one model, several prompts ──
    "sensitivity": ("Prompt sensitivity", "提示敏感性"),
    "sensitivity_text": (
        (
            "Runs of one model on the same items, graded alike and asked in different words. The highest of "
            "several means is above the lowest by chance alone: the test and the deviation allow for that."
        ),
        (
            "同一模型、相同题目、相同评分、不同提示方式的多次运行。几个平均值中最高者仅因偶然也会高于最低者；"
            "检验与标准差已考虑这一点。"
        ),
    ),
    "sensitivity_caption": ("{task}, {model}: {score} by prompt", "{task}，{model}：各提示下的 {score}"),
    "sensitivity_facts": ("What the prompt makes of the score on {task}", "提示对 {task} 得分的影响"),
    "prompt_differs": ("Differs in", "不同之处"),
    "prompt_first": ("the first prompt", "第一种提示"),
    "spread": ("Highest mean minus lowest", "最高平均减最低平均"),
    "prompt_deviation": (
        "Standard deviation between prompts, chance taken off",
        "提示间标准差（扣除偶然成分）",
    ),
    "prompt_changed": ("Items whose score hangs on the prompt", "得分随提示改变的题目"),
    "prompt_test": ("p that all prompts have one mean", "所有提示平均相同的 p 值"),
    # ── comparison ──
    "comparison": ("Comparison", "比较"),
    "comparison_text": (
        "Paired by item, B - A, {level} intervals; p-values corrected by Holm over all pairs.",
        "按题目配对，B - A，{level} 区间；p 值经 Holm 方法对所有配对校正。",
    ),
    "comparison_failed": ("The runs were not compared: {reason}.", "未进行比较：{reason}。"),
    "runs_caption": ("The runs and their letters", "各次运行及其代号"),
    "letter": ("Letter", "代号"),
    "pairs_caption": ("Paired differences", "配对差异"),
    "pair": ("Pair", "配对"),
    "pair_name": ("{task}: {b} - {a}", "{task}：{b} - {a}"),
    "said": ("{name}: {text}", "{name}：{text}"),
    "mean_of_first": ("Mean of the first", "前者平均"),
    "mean_of_second": ("Mean of the second", "后者平均"),
    "difference": ("Difference", "差异"),
    "p_adjusted": ("p (Holm)", "p（Holm）"),
    "test": ("Test", "检验"),
    "wins": ("Higher / lower / same", "更高 / 更低 / 相同"),
    "detectable": ("Shown with power 80%", "80% 功效可检出"),
    "comparability_same": ("same protocol", "协议相同"),
    "comparability_noted": ("comparable with a note", "可比，有备注"),
    "comparability_refused": ("not comparable", "不可比"),
    "comparability": ("Comparability", "可比性"),
    "differences_caption": ("What differs beside the models", "除模型外的不同之处"),
    "strata_caption": ("{pair} by stratum", "{pair}，按分层"),
    "ranking_caption": ("Ranks on {task}: {n} items that all runs have", "{task} 的排名：{n} 道共有题目"),
    "rank": ("Rank", "名次"),
    "rank_interval": ("Ranks not ruled out", "不能排除的名次"),
    "mean": ("Mean", "平均"),
    "groups_text": (
        "Groups of which no two runs differ significantly: {groups}.",
        "组内任意两次运行均无显著差异：{groups}。",
    ),
    "difference_figure": ("Paired differences with intervals", "配对差异及其区间"),
}
"""Name → text in English, text in Chinese; both have the same places to fill in."""

STATUSES: Final[dict[Status, tuple[str, str]]] = {
    Status.SCORED: ("an answer was compared", "答案已比对"),
    Status.NO_ANSWER: ("no answer was found, or an ambiguous one", "未找到答案，或答案含糊"),
    Status.TRUNCATED: ("out of tokens before an answer", "给出答案前词元已用尽"),
    Status.REFUSED: ("the model declined", "模型拒绝回答"),
    Status.FILTERED: ("the provider's filter withheld the answer", "服务方的过滤器扣留了回答"),
    Status.CONTEXT_OVERFLOW: ("the prompt does not fit", "提示超出上下文长度"),
    Status.TIMEOUT: ("the model ran out of time", "模型超时"),
    Status.MODEL_ERROR: ("a permanent error of the model or its API", "模型或其接口的永久错误"),
    Status.PERMISSION_DENIED: ("a tool that the protocol withholds", "协议不允许的工具"),
    Status.JUDGE_UNKNOWN: ("the judge could not decide", "评判者无法判定"),
    Status.JUDGE_ERROR: ("the judge failed", "评判者出错"),
    Status.GRADER_ERROR: ("the verifier failed", "验证器出错"),
    Status.INFRA_ERROR: ("our side failed after retries", "重试后我方仍失败"),
    Status.INVALID_ITEM: ("the item itself is broken", "题目本身有误"),
}
"""What each status means."""


@dataclass(frozen=True)
class Words:
    """The texts of one language."""

    language: str

    def __call__(self, name: str, /, **values: object) -> str:
        """The text of that name, its places filled in."""
        return MESSAGES[name][LANGUAGES.index(self.language)].format(**values)

    def raw(self, name: str, /) -> str:
        """The text of that name as it stands, its places to be filled in by others."""
        return MESSAGES[name][LANGUAGES.index(self.language)]

    def status(self, status: Status) -> str:
        """What a status means."""
        return STATUSES[status][LANGUAGES.index(self.language)]


def words(language: str) -> Words:
    """The texts of a language.

    Raises:
        UsageError: there are none.
    """
    if language not in LANGUAGES:
        raise UsageError(f"language {language!r} is unknown: use {' or '.join(LANGUAGES)}")
    return Words(language)
