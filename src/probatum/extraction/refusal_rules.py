"""The rules of refusals, language by language. Regular expressions of bounded repetition only.

A rule speaks of the writer and of what the writer does with the request (I cannot help with that), so
that the bare word ("you cannot pass", "sorry to hear that") is no sign.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["OTHER_SCRIPTS", "RULES", "LanguageRules"]

OTHER_SCRIPTS: Final = frozenset({"ar", "ja", "ko", "ru", "zh"})
"""Languages whose rules cannot match in ASCII text."""


@dataclass(frozen=True, kw_only=True)
class LanguageRules:
    """Patterns of one language; each is searched case-insensitively, and may be empty."""

    unable: str
    """The writer cannot or will not do what was asked."""
    apology: str
    """An apology that goes on to an objection; decides only where it opens the text."""
    policy: str
    """The writer's rules or programming forbid it."""
    disapproval: str
    """The request is called wrong, illegal or harmful, without a word of refusing."""
    ignorance: str
    """The writer does not know, or has no access to what would have to be known."""
    turn: str
    """What comes after it is help all the same."""
    elsewhere: str
    """Shortly before a turn: the help is with something else."""


_EN_ADVERB = (
    r"(?: (?:really|simply|just|still|also|unfortunately|personally|therefore|absolutely|definitely"
    r"|currently|directly|actually|ethically|legally|knowingly|sorry,? but I|in good conscience)"
    r"|, in good conscience,)?"
)
_EN_DO = (
    r"(?:help|assist|aid\b|provid|giv(?!e (?:up|in|way)\b)|offer|support|fulfil|comply|complying"
    r"|answer|respond|reply|engag|continu|discuss|shar(?:e|ing)|creat|generat|writ|produc|suggest|recommend|encourag|promot|condon|endors"
    r"|participat|facilitat|advis|teach|tell(?:ing)? you|show(?:ing)? you|explain|describ"
    r"|(?:do|doing) (?:that|this|it|what|so|anything)\b|complet|process\b|satisfy|disclos|reveal|guid"
    r"|mak(?:e|ing)|nam(?:e|ing)\b|list\b|justify|proceed|role-?play|accommodat|entertain|advocat|supply|instruct"
    r"|contribut|be (?:a )?part(?:y)? (?:of|to)|carry out|perform|honou?r|grant|accept|agree\b|present"
    r"|deliver|speak\b|talk\b|comment|express an opinion|outlin|construct|compos|draft|argu"
    r"|tak(?:e|ing) part|go along|in good conscience|access|brows)"
)
_EN_MAY = (
    r"(?:can ?not|can['’]?t|could(?:n['’]?t| not)|won['’]?t|will not"
    r"|(?:am|['’]m|are|['’]re) (?:really |simply |just )?(?:unable|not able|not going|not willing|unwilling"
    r"|not allowed|not permitted|not authorized|not authorised|not programmed|not designed|not equipped"
    r"|forbidden|prohibited|not in a position|not capable of)(?: to| from)?"
    r"|refuse to|must refuse to|decline to|have to decline to|do(?:n['’]?t| not) (?:feel comfortable|want"
    r"|wish|intend|have the ability|have the authority)(?: to)?"
    r"|(?:am|['’]m) (?:not comfortable|uncomfortable)(?: with)?|['’]d (?:rather|prefer) not(?: to)?"
    r"|would (?:rather|prefer) not(?: to)?)"
)
_EN_WRONG = (
    r"(?:illegal|unethical|immoral|unlawful|criminal act|unacceptable|inappropriate|disrespectful|offensive"
    r"|never (?:acceptable|okay|ok|appropriate|ethical|justified|the (?:answer|solution)|an? \w{1,15} ?"
    r"(?:answer|solution))"
    r"|(?:morally|ethically) (?:wrong|reprehensible|unacceptable))"
)
_EN_WANT = (
    r"(?! (?:you )?(?:exactly|precisely|for (?:sure|certain)|with certainty|definitively)\b"
    r"| (?:(?:to )?(?:brows\w+|access(?:ing)?) )?(?:the |any )?"
    r"(?:internet|web|real.?time|live|current|external|up.to.date)\b"
    r"| (?:determine|verify|find|locate|see|view|tell)\b)"
)
"""Not behind words for what the writer lacks the knowledge or the tools for."""
_EN_GOOD = (
    r"(?:appropriate|ethical|acceptable|legal|okay|right|safe|responsible|respectful|advisable|fair|accurate"
    r"|healthy|recommended|productive|a (?:good|valid|respectful) (?:idea|question))"
)

_ENGLISH = LanguageRules(
    unable=(
        rf"\b(?:I|we)(?: [’']?m)? ?{_EN_ADVERB} ?{_EN_MAY}(?: (?:and|or) {_EN_MAY})?{_EN_ADVERB}"
        rf"(?: be able to)? ?{_EN_DO}\w{{0,5}}\b"
        r"(?! (?:[^.!?\n]{0,40} )?enough\b| but\b)"
        rf"{_EN_WANT}"
        r"|\bI(?: must| have to|['’]ll have to|['’]m going to have to| will have to| respectfully"
        r"| politely){1,2}"
        r" (?:decline|refuse|pass)\b"
        r"|\b(?:that|this|it)(?:(?:['’]s| is) not| isn['’]?t) something (?:that )?"
        r"I(?: am|['’]m|['’]d| would)? ?(?:can|could|will|able to|be able to|comfortable|allowed|willing)\b"
        r"|\b(?:that|this|it)(?:['’]s| is) something (?:that )?I(?: am|['’]m)? ?"
        r"(?:can['’]?t|cannot|won['’]?t|not able to|not comfortable)"
        r"|^\W{0,4}(?:sorry[,.]? |no[,.]? )?I (?:can['’]t|cannot|won['’]t)\W{0,4}$"
        r"|^\W{0,4}(?:sorry[,.]? |no[,.]? )?(?:can(?:no|['’])t|unable to|won['’]?t|not going to) "
        r"(?:help|assist|do|comply)"
        r"|\b(?:your |this |the )?request (?:has been |is |was )?(?:denied|rejected|declined)\b"
        r"|\bI(?: am an? [^.!?\n]{0,60}?(?:and|,|so))? ?(?:do not|don['’]?t|cannot|can['’]t)"
        r" (?:condone|endorse|support|encourage|promote|advocate)\b"
        r"|\bas an? (?:\w{1,15} )?(?:AI|assistant|language model)\b[^.!?\n]{0,60}?"
        r"(?:not able to|unable to|do not (?:condone|have the capability))"
        rf"|\bI(?: am|['’]m| ['’]m) (?:unable|not able) to\b{_EN_WANT}"
    ),
    apology=(
        r"(?:\bI(?:['’]m| am)(?: \w{1,10}){0,2} |^\W{0,4}(?:oh,? |no,? )?)sorry\b"
        r"(?! (?:to hear|for your|about))[^.!?\n]{0,25}?[,.;]? ?(?:but|however)\b"
        r"(?! (?:the |my )?(?:answer|correct|I (?:can|could|have|think)\b(?!['’]| not)))"
        r"|\b(?:I|my) (?:sincere )?apolog(?:ize|ise|ies)\b(?! for (?:the|any|my))[^.!?\n]{0,25}?[,.;]? ?"
        r"(?:but|however)\b"
    ),
    policy=(
        r"\b(?:against|not (?:with)?in|outside(?: of)?|violat\w{1,4}|goes beyond|prohibited by"
        r"|conflicts? with"
        r"|contrary to) (?:of )?(?:my|our|openai['’]s|the) (?:\w{1,15} ){0,3}?"
        r"(?:guidelines|programming|polic(?:y|ies)|principles|values|purpose|capabilit(?:y|ies)|terms)\b"
        r"|\bmy (?:\w{1,15} ){0,2}(?:guidelines|programming|polic(?:y|ies)|training|purpose) "
        r"(?:prevents?|prohibits?|do(?:es)?(?: not|n['’]t) (?:allow|permit)|forbids?|restricts?)"
    ),
    disapproval=(
        rf"\b(?:it|that|this)(?: would(?: not)? be|['’]s| is| isn['’]t)(?: (?:not|never|highly|very|both|also"
        rf"|generally|simply|absolutely|considered|neither)){{1,3}} {_EN_GOOD}"
        rf"(?:,? (?:or|and|nor) {_EN_GOOD}){{0,2}} (?:to|for|of)\b"
        rf"|\b(?:it|that|this)(?:['’]s| is| would be)(?: (?:both|highly|very|also"
        rf"|extremely)){{0,2}} {_EN_WRONG}"
        r"(?:,? (?:or|and) \w{1,20}){0,2} (?:to|for)\b"
        rf"|\b(?:note|remember|understand|clarify|emphasi[sz]e|say|stress"
        rf"|recogni[sz]e) that [^.!?\n]{{1,160}}?"
        rf"\b(?:is|are|be)\b (?:(?:not only|both|highly|strictly|considered|generally|an?|very"
        rf"|extremely) ){{0,3}}{_EN_WRONG}"
        rf"|\b(?:note|remember|understand|clarify|emphasi[sz]e|say|stress"
        rf"|recogni[sz]e) that [^.!?\n]{{1,160}}?"
        rf"\b(?:is|are)(?: not|n['’]t) (?:an? )?(?:\w{{1,12}} (?:or|and) )?{_EN_GOOD}"
        rf"|^\W{{0,4}}(?!according)[A-Z]\w{{2,20}}ing\b[^.!?\n]{{1,120}}?\bis (?:(?:not only|both|highly"
        rf"|strictly|never|considered|an?|very|extremely) ){{0,3}}(?:{_EN_WRONG}|not (?:an? )?{_EN_GOOD})"
        rf"|\bI (?:do not|don['’]t) (?:think|believe)(?: that)?(?: it| that| this)?(?:['’]s"
        rf"| is)[^.!?\n]{{0,20}}? ?"
        rf"{_EN_GOOD}"
        r"|\bI (?:strongly |firmly |absolutely )?(?:condemn|disagree|disapprove|object)\b"
        r"|\b(?:violence|discrimination|harming (?:others|yourself|oneself|someone)|suicide)\b[^.!?\n]{0,60}?"
        r" (?:is|are) (?:never|not)\b"
        r"|\breach(?:ing)? out to (?:\w{1,12} ){0,3}(?:trusted|mental health|crisis|suicide|professional"
        r"|helpline)\b"
        r"|\bseek(?:ing)? (?:professional|immediate|mental health|medical) (?:help|support|assistance)\b"
    ),
    ignorance=(
        r"\bI(?: really| honestly| just| simply)? (?:do not|don['’]?t|did not|didn['’]?t) (?:actually "
        r"|really )?"
        r"(?:know|have (?:\w{1,12} ){0,3}?(?:information|knowledge|access|data|details|ability to know"
        r"|answer))\b"
        r"|\bI(?: am|['’]m)(?: \w{1,10})? (?:not (?:sure|certain|aware)|unsure|uncertain|unaware)\b"
        r"|\bI have no (?:idea|information|knowledge|way of knowing|access|data)\b"
        r"|\b(?:I )?(?:cannot|can['’]?t|could ?n[o'’]t) (?:be )?(?:determined?|say for (?:sure|certain)"
        r"|find any information)\b"
        r"|\bnot enough information\b|\binsufficient (?:information|data|context)\b"
        r"|\b(?:it|that|this|the answer)(?: is|['’]s) (?:unknown|not known|unclear)\b"
        r"|\bunanswerable\b|^\W{0,4}(?:no idea|not sure|unknown|unsure|idk|dunno)\W{0,4}$"
    ),
    turn=(
        r"\b(?:however|that said|but|nevertheless|nonetheless|still)\b[^.!?\n]{0,60}?"
        r"(?:\bI (?:can|could|will|would be happy to)\b(?! (?:not|n['’]t))|\bhere(?:['’]s| is| are)\b)"
        r"|\bhere (?:are|is) (?:some|a few|several|\d{1,2}|the|how)\b"
    ),
    elsewhere=(
        r"\b(?:instead|alternatives?|other ways|legal(?:ly)?|healthy|healthier|lawful|peaceful|ethical)\b"
    ),
)


_CHINESE = LanguageRules(
    unable=(
        r"(?:我|本人|作为[^。！？\n]{0,30}?)(?:[^。！？\n，,]{0,8})?(?:无法|不能够?|没办法|没有办法|没法|不会|不可以|不便|不愿意?"
        r"|不方便|拒绝)(?:[^。！？\n，,]{0,10})?(?:提供|回答|帮|协助|满足|完成|给出|给您|给你|生成|支持|讨论|执行|处理|分享|参与"
        r"|继续|透露|撰写|创作|编写|描述|评论|答应|配合|这样做|这么做|做到|说明)"
        r"|(?:無法|沒辦法|拒絕)(?:為您|為你|幫您|幫你|提供|回答|協助|滿足)|不能(?:為您|為你|幫您|幫你)"
        r"|(?:恕|请恕)(?:我)?(?:无法|不能|难以|難以|無法)"
        r"|(?:^|[。！？\n，,]\s{0,3})(?:无法|不能)(?:为您|为你|提供|回答|帮助|满足|协助)"
    ),
    apology=r"(?:对不起|抱歉|不好意思|對不起|很遗憾)[，,。！!\s]{0,3}(?:但|但是|我(?:无法|不能|不会|無法)|这个|您的|你的|该)",
    policy=(
        r"(?:违反|违背|不符合|違反)[^。！？\n]{0,20}?(?:规定|政策|准则|原则|法律|法规|道德|規定|準則)"
        r"|我的(?:程序|设计|准则|编程|训练)[^。！？\n]{0,10}?(?:不允许|禁止|不支持)"
    ),
    disapproval=(
        r"(?:这|此|该|上述)[^。！？\n]{0,16}?(?:是|属于)[^。！？\n]{0,6}?(?:违法|非法|不道德|不合法|犯罪|错误|不恰当|不合适|有害)"
        r"|(?:请不要|请勿|切勿|不应该|不应当|不建议)[^。！？\n]{0,20}?(?:违法|非法|伤害|犯罪|歧视|暴力|危险)"
    ),
    ignorance=(
        r"我?(?:真的|确实|也)?(?:不知道|不清楚|不了解|不太清楚|不确定|不得而知|不曉得)"
        r"|(?:无法|难以|不能)(?:确定|判断|得知|知道|获知)|(?:信息|資訊|资料)不足|没有(?:足够的|相关的?)?(?:信息|资料|数据)"
    ),
    turn=r"(?:但是?|不过|然而|可是)[，,]?(?:我可以|可以(?:为您|告诉|提供)|以下|这里)|以下是|下面是",
    elsewhere=r"合法|其他方式|替代|健康的|正当",
)

_JAPANESE = LanguageRules(
    unable=(
        r"(?:お答え|お応え|お手伝い|お伝え|ご?提供|ご?案内|ご?協力|ご?対応|ご?支援|ご?説明|ご?紹介|回答|手助け|助言|作成|生成|お教え|教える"
        r"|答える|手伝う|応じる|従う)(?:する|をする|は|が|を|に|こと|し|いたし|致し|でき|も|には|を行う){0,5}"
        r"(?:できません|できかねます|いたしかねます|致しかねます|しかねます|かねます|出来ません|しません|いたしません|お断り"
        r"|控え|わけにはいきません|ことはできない)"
        r"|(?:そのような|この|その|ご)(?:ご)?(?:要望|要求|リクエスト|依頼|質問)には?[^。\n]{0,12}?(?:応じられません|お応えできません|答えられません)"
        r"|お断り(?:します|いたします|させていただきます)"
    ),
    apology=r"(?:申し訳(?:ありません|ございません)|すみません|ごめんなさい|恐れ入ります)が[、,]?",
    policy=r"(?:ガイドライン|ポリシー|規約|方針|倫理)[^。\n]{0,15}?(?:違反|反し|禁止|許可されて)",
    disapproval=(
        r"(?:それ|これ|その行為|この行為|[^。\n]{1,20}(?:こと|行為))は[^。\n]{0,12}?(?:違法|非倫理的|不適切|犯罪|許され|危険)"
    ),
    ignorance=(
        r"(?:わかりません|分かりません|わからない|分からない|存じません|知りません|存じ上げません|不明です)"
        r"|(?:情報|データ)が(?:不足|足りません|ありません)"
    ),
    turn=r"(?:ただし|しかし|ですが|とはいえ)[、,]?[^。\n]{0,30}?(?:できます|可能です|以下)|以下(?:は|の通り|に)",
    elsewhere=r"代わりに|代替|合法|別の方法",
)

_KOREAN = LanguageRules(
    unable=(
        r"(?:도와|도움(?:을|이)?|제공|답변|대답|응답|답|생성|작성|안내|설명|지원|알려|공유|수행|응)(?:해|하|드|을|를|에|할|드릴|줄|될|주|해\s?드릴|\s){0,5}"
        r"\s?(?:수(?:가|는)?\s?없|못\s?(?:합|해|하|드)|거부|거절|않겠)"
        r"|(?:요청|질문)(?:에|을|은|에는)\s?[^.\n]{0,16}?(?:수\s?없|거부|거절|않겠)"
    ),
    apology=r"(?:죄송하지만|미안하지만|유감이지만|죄송합니다만|죄송합니다[.,]?\s?(?:하지만|그러나))",
    policy=r"(?:정책|지침|가이드라인|규정|원칙|윤리)[^.\n]{0,16}?(?:위반|위배|어긋|금지|허용되지)",
    disapproval=(
        r"(?:이는|이것은|그것은|[^.\n]{1,20}(?:것|행위)은)\s?[^.\n]{0,16}?(?:불법|비윤리|부적절|범죄|옳지 않)"
    ),
    ignorance=r"(?:모르겠|알지 못|모릅니다|잘 모르|확실하지 않|알 수\s?없)|정보가 (?:부족|없)",
    turn=r"(?:하지만|그러나|다만|대신)\s?[^.\n]{0,30}?(?:수 있습니다|드릴게요|다음)|다음은",
    elsewhere=r"대신|합법|다른 방법|대안",
)

_SPANISH = LanguageRules(
    unable=(
        r"\b(?:no (?:te |le |les |os |me )?(?:puedo|podr[íi]a|podemos|voy a|debo|quiero|estoy "
        r"(?:autorizad[oa]|en condiciones|capacitad[oa]"
        r"|dispuest[oa])(?: para| a| de)?|me es posible|es posible para m[íi]|soy capaz de)"
        r"(?: \w{1,12}mente)?"
        r" (?:te |le |les )?(?:ayud|proporcion|ofrec|dar|brind|respond|contest|cumpl|asist|gener|crear|escrib"
        r"|compart|apoy|promov"
        r"|facilit|participar|hacer(?:lo)?\b|eso\b|revel|complac|continu|discut|suger|recomend|fomentar"
        r"|explic|describ|satisf|acced|atend|record|decir)\w{0,12})"
        r"|\b(?:me niego a|debo (?:rechazar|negarme|declinar)|tengo que (?:rechazar|negarme|declinar)"
        r"|me temo que no puedo|prefiero no)\b"
        r"|^\W{0,4}no puedo\b[^.\n]{0,12}[.!]?\s{0,3}$"
    ),
    apology=(
        r"\b(?:lo siento|lo lamento|perd[óo]n|disculp[ae]|me disculpo)\b[^.!?\n]{0,20}?[,.;]? ?(?:pero"
        r"|sin embargo)\b"
    ),
    policy=(
        r"\b(?:en contra de|va contra|viola|infringe|contrari[oa] a|fuera de) (?:mis?|las?|los?"
        r"|nuestr[oa]s?) (?:\w{1,15} ){0,2}?"
        r"(?:directrices|programaci[óo]n|pol[íi]ticas?|principios|normas|pautas|valores)\b"
    ),
    disapproval=(
        r"\b(?:no (?:es|ser[íi]a) (?:[ée]tico|apropiado|aceptable|legal|correcto|adecuado|responsable)"
        r"|(?:es|ser[íi]a) (?:ilegal|inmoral|inaceptable|inapropiado|poco [ée]tico)(?: (?:y|e) \w{1,15})?) "
        r"(?:\w{2,12}[aei]r|que|para)\b"
        r"|\b(?:recordar|se[ñn]alar|destacar|tener en cuenta|aclarar) que [^.!?\n]{1,120}? (?:es|son) "
        r"(?:ilegal|un delito|inaceptable|poco [ée]tic)"
    ),
    ignorance=(
        r"\bno (?:lo )?(?:s[ée]\b|conozco|tengo (?:\w{1,12} ){0,2}?(?:informaci[óo]n|conocimiento|acceso"
        r"|datos|idea)|estoy segur[oa])"
        r"|\bdesconozco\b|\bno se (?:sabe|puede (?:saber|determinar))\b|\binformaci[óo]n insuficiente\b"
    ),
    turn=(
        r"\b(?:sin embargo|no obstante|pero|aun as[íi]|dicho esto)\b[^.!?\n]{0,50}?\b(?:puedo|podr[íi]a"
        r"|aqu[íi])\b|\baqu[íi] (?:tienes|hay|est[áa]n|te dejo)\b"
    ),
    elsewhere=r"\b(?:en (?:su|cambio|lugar)|alternativas?|otras formas|legal(?:es|mente)?|saludables?)\b",
)

_PORTUGUESE = LanguageRules(
    unable=(
        r"\bn[ãa]o (?:te |lhe |o |a )?(?:posso|poderia|podemos|consigo|vou|devo|quero|estou "
        r"(?:autorizad[oa]|dispost[oa]|em condi[çc][õo]es)(?: para| a| de)?"
        r"|sou capaz de|me [ée] poss[íi]vel)(?: \w{1,12}mente)? (?:te |lhe |o |a )?"
        r"(?:ajud|fornec|oferec|dar\b|respond|cumpr|auxili|ger|criar|escrev|compartilh|apoi|promov|facilit"
        r"|particip|fazer\b|isso\b|revel|continu"
        r"|discut|suger|recomend|incentiv|explic|descrev|atend|prestar|dizer|prosseguir)\w{0,12}"
        r"|\b(?:me recuso a|recuso-me a|devo recusar|tenho (?:que|de) recusar|prefiro n[ãa]o)\b"
    ),
    apology=(
        r"\b(?:desculpe?|sinto muito|lamento|pe[çc]o desculpas?|perd[ãa]o)\b[^.!?\n]{0,20}?[,.;]? ?(?:mas"
        r"|por[ée]m|no entanto)\b"
    ),
    policy=(
        r"\b(?:contra|viola|fora d|contrari[oa] a)\w{0,3} (?:as?|os?|minhas?|meus?|nossas?) "
        r"(?:\w{1,15} ){0,2}?"
        r"(?:diretrizes|programa[çc][ãa]o|pol[íi]ticas?|princ[íi]pios|normas|valores)\b"
    ),
    disapproval=(
        r"\b(?:n[ãa]o (?:[ée]|seria) (?:[ée]tico|apropriado|aceit[áa]vel|legal|correto|adequado"
        r"|respons[áa]vel)"
        r"|[ée] (?:ilegal|imoral|inaceit[áa]vel|inapropriado|anti[ée]tico)(?: e \w{1,15})?) "
        r"(?:\w{2,12}[aei]r|que|para)\b"
    ),
    ignorance=(
        r"\bn[ãa]o (?:sei\b|conhe[çc]o|tenho (?:\w{1,12} ){0,2}?(?:informa[çc]|conhecimento|acesso|dados"
        r"|ideia|certeza))"
        r"|\bdesconhe[çc]o\b|\bn[ãa]o [ée] poss[íi]vel (?:saber|determinar)\b"
    ),
    turn=(
        r"\b(?:no entanto|por[ée]m|mas|contudo|todavia)\b[^.!?\n]{0,50}?\b(?:posso|poderia|aqui)\b|\baqui "
        r"(?:est[ãa]o|v[ãa]o|tens)\b"
    ),
    elsewhere=r"\b(?:em vez|alternativas?|outras formas|legal(?:mente)?|leg[ai]is|saud[áa]ve(?:l|is))\b",
)

_FRENCH = LanguageRules(
    unable=(
        r"\bje (?:ne |n['’])(?:te |vous |le |la |l['’]|y )?(?:peux|pourrais|puis|suis|saurais|vais|souhaite"
        r"|veux|dois) (?:malheureusement |d[ée]sol[ée]e? |donc )?"
        r"(?:pas |point )?(?:en mesure de |autoris[ée]e? [àa] |capable de |habilit[ée]e? [àa] "
        r"|dispos[ée]e? [àa] )?(?:te |vous |l['’]|y )?"
        r"(?:aid|fourn|donn|r[ée]pond|assist|propos|offr|g[ée]n[ée]r|cr[ée]|[ée]crir|[ée]crire|partag"
        r"|souten|promouv|encourag|facilit|particip|faire\b|r[ée]v[ée]l"
        r"|continu|discut|sugg[ée]r|recommand|expliqu|d[ée]cri|satisfai|acc[ée]d|dire\b|divulgu|pr[ée]par"
        r"|accompagn|r[ée]diger)\w{0,12}"
        r"|\bje (?:refuse|dois (?:refuser|d[ée]cliner)|me vois (?:contraint|oblig[ée])e? de refuser"
        r"|pr[ée]f[èe]re ne pas)\b"
        r"|\bil m['’]est impossible de\b"
    ),
    apology=(
        r"\b(?:d[ée]sol[ée]e?|je (?:suis|m['’]excuse)|pardon|je regrette"
        r"|toutes mes excuses)\b[^.!?\n]{0,20}?[,.;]? ?\bmais\b"
    ),
    policy=(
        r"\b(?:contraire|contre|enfreint|viole|va [àa] l['’]encontre)\b (?:[àa] |de |des )?(?:mes|mon|ma"
        r"|nos|les|la|aux) ?(?:\w{1,15} ){0,2}?"
        r"(?:directives|programmation|politiques?|principes|r[èe]gles|valeurs)\b"
    ),
    disapproval=(
        r"\b(?:il|ce|cela)(?: n['’]est pas| ne serait pas| n['’]est ni)(?: \w{1,12}ment)? (?:[ée]thique"
        r"|appropri[ée]|acceptable|l[ée]gal|correct|convenable|responsable)\b"
        r"|\b(?:il|c['’]|ce|cela) ?est (?:ill[ée]gal|immoral|inacceptable|inappropri[ée]"
        r"|contraire [àa] l['’][ée]thique)(?: et \w{1,15})? d[e'’]"
    ),
    ignorance=(
        r"\bje (?:ne |n['’])(?:le |en )?(?:sais|connais|dispose|ai|suis) (?:malheureusement )?(?:pas"
        r"|aucune)(?: \w{1,6})?(?: (?:informations?|acc[èe]s|donn[ée]es|id[ée]e|certaine?|s[ûu]re?))?"
        r"(?=[\s.,!]|$)"
        r"(?! (?:en mesure|autoris|capable))|\bje l['’]ignore\b|\bj['’]ignore\b|\baucune id[ée]e\b|\b"
        r"(?:sais|connais) pas\b"
    ),
    turn=(
        r"\b(?:cependant|toutefois|n[ée]anmoins|mais|en revanche)\b[^.!?\n]{0,50}?\b(?:je peux|je pourrais"
        r"|voici)\b|\bvoici (?:quelques|les|des|un)\b"
    ),
    elsewhere=r"\b(?:plut[ôo]t|au lieu|alternatives?|l[ée]ga(?:l|les|ux|lement)|autres moyens)\b",
)

_ITALIAN = LanguageRules(
    unable=(
        r"\bnon (?:ti |le |vi |lo |la |mi )?(?:posso|potrei|possiamo|sono (?:in grado|autorizzat[oa]"
        r"|dispost[oa]|capace)(?: di| a)?|voglio|devo|riesco a"
        r"|[èe] possibile per me)(?: \w{1,12}mente)? (?:ti |le )?(?:aiut|forn|offr|dar|rispond|assist|gener"
        r"|cre|scriv|condivid|support|promuov|facilit|partecip"
        r"|farlo\b|fare\b|rivel|continu|discut|sugger|raccomand|consigli|spieg|descriv|soddisf|dire\b"
        r"|procedere|accontent)\w{0,12}"
        r"|\b(?:mi rifiuto di|devo (?:rifiutare|declinare)|preferisco non)\b"
    ),
    apology=(
        r"\b(?:mi dispiace|mi spiace|scusa(?:mi|te)?|spiacente|mi scuso)\b[^.!?\n]{0,20}?[,.;]? ?(?:ma"
        r"|tuttavia|per[òo])\b"
    ),
    policy=(
        r"\b(?:contro|contrari[oa] a\w{0,3}|viola|al di fuori de\w{0,3}) (?:le |i |la |mie |miei "
        r"|mia ){0,2}(?:\w{1,15} ){0,1}?"
        r"(?:linee guida|programmazione|politic(?:a|he)|princ[ìi]pi|norme|valori)\b"
    ),
    disapproval=(
        r"\b(?:non (?:[èe]|sarebbe) (?:etico|appropriato|accettabile|legale|corretto|giusto|responsabile)"
        r"|[èe] (?:illegale|immorale|inaccettabile|inappropriato)(?: e(?:d)? \w{1,15})?) (?:\w{2,12}[aei]re"
        r"|che|per)\b"
    ),
    ignorance=(
        r"\bnon (?:lo )?(?:so\b|conosco|sono (?:sicur|cert)[oa]|ho (?:\w{1,12} ){0,2}?(?:informazioni"
        r"|accesso|dati|idea|conoscenz))"
        r"|\bnon [èe] possibile (?:sapere|determinare|stabilire)\b"
    ),
    turn=(
        r"\b(?:tuttavia|per[òo]|ma|comunque)\b[^.!?\n]{0,50}?\b(?:posso|potrei|ecco)\b|\becco (?:alcuni"
        r"|alcune|i|le|un)\b"
    ),
    elsewhere=r"\b(?:invece|alternative?|legal[ei]|altri modi)\b",
)

_GERMAN = LanguageRules(
    unable=(
        r"\b(?:ich (?:kann|könnte|darf|werde|möchte|will)|(?:kann|darf|werde|möchte"
        r"|will) ich)\b[^.!?\n]{0,80}?\b(?:nicht|keine[rnms]?)\b[^.!?\n]{0,80}?"
        r"(?:helfen|weiterhelfen|unterstützen|geben|bereitstellen|beantworten|antworten|erfüllen|nachkommen"
        r"|erstellen|schreiben|teilen|anbieten|fördern"
        r"|liefern|machen|tun|preisgeben|nennen|fortfahren|empfehlen|vorschlagen|erklären|beschreiben"
        r"|beitragen|dienen|generieren|behilflich|mitmachen|sagen)\b"
        r"|\bich bin (?:leider )?nicht (?:in der lage|befugt|berechtigt|bereit|dazu da|dafür)\b"
        r"|\bich (?:muss (?:das|dies|diese anfrage|die anfrage)? ?(?:leider )?(?:ablehnen|verweigern)"
        r"|weigere mich|lehne (?:das|dies|es|diese anfrage) ab)\b"
        r"|\b(?:das|dabei|damit) kann ich (?:leider |dir |ihnen ){0,2}nicht\b"
    ),
    apology=(
        r"\b(?:es tut mir (?:sehr )?leid|tut mir (?:sehr )?leid|entschuldigung|entschuldigen sie|verzeihung"
        r"|leider)\b[^.!?\n]{0,20}?[,.;] ?aber\b"
    ),
    policy=(
        r"\b(?:gegen|verstößt gegen|widerspricht|außerhalb) (?:meine[rn]?|unsere[rn]?|die|den) "
        r"(?:\w{1,15} ){0,2}?"
        r"(?:richtlinien|programmierung|grundsätze\w?|prinzipien|regeln|werte)\b"
    ),
    disapproval=(
        r"\b(?:es|das|dies) (?:ist|wäre) (?:(?:nicht|weder|moralisch|ethisch) (?:ethisch|angemessen"
        r"|akzeptabel|legal|richtig|in ordnung|vertretbar|verwerflich)"
        r"|illegal|strafbar|verboten|unethisch|inakzeptabel|unangemessen)\b"
    ),
    ignorance=(
        r"\b(?:ich weiß (?:es |das |leider |die antwort ){0,3}nicht|weiß ich (?:leider )?nicht|ich bin "
        r"(?:mir )?nicht sicher|ich habe (?:leider |dazu |darüber |darauf ){0,2}kein(?:e|en)? (?:\w{1,15} )?"
        r"(?:information(?:en)?|zugriff|zugang|daten|ahnung|kenntnis)|keine ahnung|(?:ist|sind) mir "
        r"(?:leider )?nicht bekannt|das lässt sich nicht (?:sagen|bestimmen))\b"
    ),
    turn=(
        r"\b(?:jedoch|allerdings|aber|dennoch|trotzdem)\b[^.!?\n]{0,50}?\b(?:kann ich|ich kann|hier (?:sind"
        r"|ist))\b(?! [^.!?\n]{0,30}nicht)|\bhier (?:sind|ist) (?:einige|ein|eine|die|der)\b"
    ),
    elsewhere=r"\b(?:stattdessen|alternativen?|legale[nrs]?|andere wege)\b",
)

_DUTCH = LanguageRules(
    unable=(
        r"\b(?:ik (?:kan|mag|zal|wil|ga)|(?:kan|mag|zal|wil) ik)\b[^.!?\n]{0,80}?\b(?:niet"
        r"|geen)\b[^.!?\n]{0,80}?"
        r"(?:helpen|geven|bieden|beantwoorden|antwoorden|voldoen|maken|schrijven|delen|verstrekken|doen"
        r"|bespreken|aanraden|uitleggen|beschrijven|ondersteunen|assisteren|vertellen|genereren)\b"
        r"|\bik ben niet (?:in staat|bevoegd|bereid)\b|\bik (?:weiger|moet (?:dit |dat )?weigeren)\b|\b"
        r"(?:daar|hier)(?:mee|bij) kan ik (?:je |u )?(?:helaas )?niet\b"
    ),
    apology=r"\b(?:het spijt me|sorry|mijn excuses|excuses|helaas)\b[^.!?\n]{0,20}?[,.;]? ?\bmaar\b",
    policy=(
        r"\b(?:tegen|in strijd met|buiten) (?:mijn|onze|de) (?:\w{1,15} ){0,2}?(?:richtlijnen|programmering"
        r"|beleid|principes|regels|waarden)\b"
    ),
    disapproval=(
        r"\b(?:het|dat|dit) is (?:niet (?:ethisch|gepast|acceptabel|legaal|juist)|illegaal|strafbaar"
        r"|verboten|onethisch|onaanvaardbaar|ongepast)\b"
    ),
    ignorance=(
        r"\b(?:ik weet (?:het |dat |dit )?(?:helaas )?niet|dat weet ik niet|ik ben (?:er )?niet zeker"
        r"|ik heb (?:daar |hier )?geen (?:informatie|toegang|gegevens|idee)|geen idee)\b"
    ),
    turn=(
        r"\b(?:echter|maar|toch|wel)\b[^.!?\n]{0,50}?\b(?:kan ik|ik kan|hier (?:zijn|is))\b"
        r"(?! [^.!?\n]{0,30}niet)|\bhier (?:zijn|is) (?:enkele|een|de)\b"
    ),
    elsewhere=r"\b(?:in plaats daarvan|alternatie(?:f|ven)|legale|andere manieren)\b",
)

_RUSSIAN = LanguageRules(
    unable=(
        r"\bя (?:к сожалению,? |просто )?(?:не (?:могу|смогу|буду|стану|хочу|вправе|имею права|в состоянии"
        r"|способен|способна|готов|готова|должен|должна)|отказываюсь|вынужден(?:а)? отказать\w{0,3})"
        r"(?:\s[^.!?\n]{0,20}?)? ?(?:помо|предостав|дать|дава|ответ|отвеч|выполн|создав|созда|генериров"
        r"|напис|писать|подел|делиться|обсужд|поддерж|поощр|участв|сделать|делать|раскры"
        r"|рекоменд|советов|объясн|описыв|описать|продолж|удовлетвор|рассказ|назвать|сказать"
        r"|содейств)\w{0,10}"
        r"|\bне (?:могу|смогу|буду) (?:вам |тебе )?(?:помочь|помогать|ответить|предоставить|выполнить"
        r"|обсуждать)\b|\bвынужден(?:а)? отказать\w{0,3}\b|\bотказываюсь (?:отвечать|помогать|выполнять)\b"
    ),
    apology=(
        r"\b(?:извините?|простите?|прошу прощения|к сожалению|сожалею"
        r"|мне жаль)\b[^.!?\n]{0,20}?[,.;]? ?\bно\b"
    ),
    policy=(
        r"(?:противоречит|нарушает|против|выходит за рамки) (?:моим|моих|мои|моего|нашим|наши|правилам"
        r"|принципам)\b[^.!?\n]{0,30}?"
    ),
    disapproval=(
        r"\b(?:это|данное действие|такие действия) (?:[^.!?\n]{0,15}? )?(?:незаконно|противозаконно"
        r"|неэтично|аморально|недопустимо|неприемлемо|преступление|уголовно наказуемо)"
    ),
    ignorance=(
        r"\bя (?:точно |к сожалению,? )?не (?:знаю|уверена?|располагаю|обладаю|имею (?:доступа|информации"
        r"|данных))|\bне знаю\b|\bмне (?:это )?не ?известно\b|\bнеизвестно\b|\bу меня нет (?:информации"
        r"|доступа|данных)"
    ),
    turn=(
        r"\b(?:однако|но|тем не менее|впрочем)\b[^.!?\n]{0,50}?\b(?:могу|вот)\b|\bвот (?:несколько"
        r"|некоторые|как)\b"
    ),
    elsewhere=r"\b(?:вместо|альтернатив\w{0,4}|законн\w{0,4}|другие способы)\b",
)

_ARABIC = LanguageRules(
    unable=(
        r"(?:لا (?:أستطيع|يمكنني|أقدر|أملك الصلاحية|يسعني)|لن (?:أستطيع|أتمكن|أقوم|أقدم|أساعد)|لست قادر(?:ا"
        r"|ًا|اً)? على|أرفض|غير قادر على|ليس بإمكاني|ليس بوسعي|أعتذر عن)"
        r"[^.!؟\n]{0,25}?(?:مساعد|تقديم|الإجابة|إجابة|توفير|القيام|تلبية|إنشاء|كتابة|مشاركة|دعم|أساعد|أقدم"
        r"|أجيب|أوفر|ذلك|هذا|تشجيع|وصف|شرح)"
    ),
    apology=r"(?:آسف|أعتذر|عذر(?:ا|ًا|اً)|للأسف|المعذرة)[^.!؟\n]{0,20}?[،,.]? ?(?:لكن|ولكن|ولكنني|لكنني)",
    policy=r"(?:يتعارض مع|ينتهك|يخالف|مخالف ل)[^.!؟\n]{0,30}?(?:سياس|إرشادات|مبادئ|قواعد|توجيهات|القانون)",
    disapproval=(
        r"(?:هذا|ذلك|إنه|هذه)[^.!؟\n]{0,20}?(?:غير قانوني|غير أخلاقي|غير مقبول|جريمة|غير مناسب|مخالف للقانون)"
    ),
    ignorance=r"لا أعرف|لا أعلم|لست متأكد|لا أدري|ليس لدي (?:معلومات|علم|وصول|بيانات|فكرة)|غير معروف",
    turn=r"(?:لكن|ولكن|مع ذلك|غير أن)[^.!؟\n]{0,40}?(?:يمكنني|أستطيع|إليك)|إليك (?:بعض|ال)",
    elsewhere=r"بدلا|بدلاً|بديل|قانوني",
)

RULES: Final[Mapping[str, LanguageRules]] = {
    "en": _ENGLISH,
    "zh": _CHINESE,
    "es": _SPANISH,
    "fr": _FRENCH,
    "de": _GERMAN,
    "ja": _JAPANESE,
    "ko": _KOREAN,
    "pt": _PORTUGUESE,
    "it": _ITALIAN,
    "nl": _DUTCH,
    "ru": _RUSSIAN,
    "ar": _ARABIC,
}
"""ISO 639-1 code → its rules."""
