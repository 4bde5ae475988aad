"""The words of mathematical writing: commands, signs and short words, each with what it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = [
    "CURRENCIES",
    "FUNCTION_NAMES",
    "GREEK",
    "JOINS",
    "REFUSED",
    "RELATIONS",
    "SHORT_WORDS",
    "STRUCTURES",
    "SYNONYMS",
    "TEXT_COMMANDS",
    "UNICODE",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _pairs(text: str) -> dict[str, str]:
    """`a b c: d` on each line: the words before the colon stand for the one behind it."""
    found: dict[str, str] = {}
    for line in text.strip().splitlines():
        names, _, meaning = line.rpartition(": ")
        found |= dict.fromkeys(names.split(), meaning.strip())
    return found


_GREEK_SIGNS: Final = "αβγδεζηθικλμνξρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_GREEK_NAMES: Final = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi rho sigma tau upsilon phi chi"
    " psi"
    " omega Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
)
_SIGNS: Final = _pairs("""
− – — ﹣: -
× ✕: \\times{}
÷: \\div{}
· ∙ ⋅ •: \\cdot{}
≤ ⩽ ≦: \\le{}
≥ ⩾ ≧: \\ge{}
≠: \\ne{}
≈: \\approx{}
≡: \\equiv{}
∞: \\infty{}
π: \\pi{}
√: \\sqrt{}
∪: \\cup{}
∩: \\cap{}
∖: \\setminus{}
∅: \\emptyset{}
∈: \\in{}
±: \\pm{}
∓: \\mp{}
∠: \\angle{}
△: \\triangle{}
⟨: \\langle{}
⟩: \\rangle{}
→: \\to{}
ℝ: \\mathbb{R}
ℤ: \\mathbb{Z}
， 、: ,
；: ;
。: .
’ ′: '
∣: |
º ˚: °
ℯ: e
％ ﹪: %
＄: $
½: \\frac{1}{2}
⅓: \\frac{1}{3}
⅔: \\frac{2}{3}
¼: \\frac{1}{4}
¾: \\frac{3}{4}
⅕: \\frac{1}{5}
⅖: \\frac{2}{5}
⅗: \\frac{3}{5}
⅘: \\frac{4}{5}
⅙: \\frac{1}{6}
⅚: \\frac{5}{6}
⅛: \\frac{1}{8}
⅜: \\frac{3}{8}
⅝: \\frac{5}{8}
⅞: \\frac{7}{8}
""")

UNICODE: Final[Mapping[int, str]] = {
    **{0xFF01 + n: chr(0x21 + n) for n in range(94)},
    **{0x2460 + n: rf"\text{{circled{n + 1}}}" for n in range(20)},
    **dict.fromkeys((0x200B, 0xFEFF, 0x2061), ""),
    **dict.fromkeys((0x3000, 0x2009, 0x202F), " "),
    **{ord(sign): rf"\{name} " for sign, name in zip(_GREEK_SIGNS, _GREEK_NAMES.split(" "), strict=True)},
    **{ord(sign): writing.replace("{}", " ") for sign, writing in _SIGNS.items()},
}
"""Signs of Unicode as LaTeX writes them; full-width ASCII as ASCII."""

TEXT_COMMANDS: Final = (
    "text|textbf|textit|textrm|textnormal|textsf|texttt|mbox|hbox|mathrm|mathbf|mathit|mathsf|mathtt|mathop"
    "|operatorname\\*?|boldsymbol|bm|rm|bf|emph|mathcal|mathscr|mathfrak|mathbb|vec|hat|bar|tilde|dot|ddot"
    "|overrightarrow|widehat|underline"
)
"""Commands whose argument is words, or one name: alternatives of a pattern."""

RELATIONS: Final = _pairs("""
< lt: <
> gt: >
= == := equiv eq: =
<= =< le leq leqslant leqq: <=
>= => ge geq geqslant geqq: >=
!= ne neq: !=
approx simeq cong sim: ~
in: in
to rightarrow mapsto Rightarrow implies: to
""")
FUNCTION_NAMES: Final = {
    **{
        name: name
        for name in _words("sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh exp ln lg log")
    },
    **{name: name for name in _words("gcd lcm max min")},
    **_pairs("asin: arcsin\nacos: arccos\natan: arctan\ntg: tan\nctg: cot\ncosec: csc"),
}
GREEK: Final = _words(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho"
    " varrho sigma"
    " tau upsilon phi varphi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell"
    " hbar"
    " partial nabla angle triangle aleph"
)
STRUCTURES: Final = _words(
    "frac dfrac tfrac cfrac sqrt binom dbinom tbinom pi infty emptyset varnothing oslash sum prod overline"
    " lvert"
    " rvert lfloor rfloor lceil rceil langle rangle circ degree percent pmod bmod mod lbrace rbrace lbrack"
    " rbrack"
    " vert mid Vert not"
)
SYNONYMS: Final = _pairs("""
cup cap setminus backslash bigcup: set
times cdot ast: *
div slash: /
pm mp: pm
land lor wedge vee: join
prime: '
colon: :
ldots dots cdots dotsc: dots
mathrm displaystyle nonumber because therefore rm bf: skip
""")
"""Commands that are one sign, with the kind of their token."""
JOINS: Final = _pairs("""
and et und 和 与 且 及 以及 并且: and
or 或 或者: or
""")
REFUSED: Final = _words(
    "int iint iiint oint lim limsup liminf sup det dim ker arg Re Im deg hom Pr perp parallel subset"
    " subseteq supset"
    " supseteq notin ni forall exists neg lnot iff Leftrightarrow leftrightarrow leftarrow Leftarrow oplus"
    " otimes"
    " ominus prec succ preceq succeq ll gg propto models vdash mid nmid bowtie dagger over choose atop"
    " substack"
)
"""Commands that are no names, and whose meaning is not known here: what holds one is not read."""
SHORT_WORDS: Final = _words(
    "no yes is the all odd even none not any to if then for of a an real true false never always undefined"
    " each day"
    " pm am cup box per"
)
"""Short words that are no products of variables."""
CURRENCIES: Final = _pairs("$: dollar\n€: euro\n£: sterling\n¥ ￥: yuan\n₹: rupee")
