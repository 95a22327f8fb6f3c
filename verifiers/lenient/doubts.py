"""Hear where a response denies a value, has no answer at all, or offers another one behind its answer."""

import re

from verifiers.lenient.spans import has_maths, is_answer, read_span

_NOT = r"(?:not|never|neither|nor|cannot|hardly|without|\w{1,8}n['\u2019]t|differs?\sfrom|other\sthan)"
_FOREIGN_NOT = r"(?:nicht|kein|pas|jamais|n\u00e3o|\u043d\u0435|no|non)\b|\u4e0d\w{0,3}|\u5e76\u975e"
_NEGATION = re.compile(rf"\b(?:{_NOT}\b|{_FOREIGN_NOT})", re.IGNORECASE)
_NEGATED_END = re.compile(
    rf"(?:\bused\sto|\b{_NOT}(?:\s(?:to|be|have|really|possibly|even|actually|necessarily|exactly|simply|just))*|\b{_FOREIGN_NOT})\s*\Z",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(
    r"[,;:.!?\n\u3002\uff0c]|\b(?:but|so|thus|hence|therefore|because|since|rather|instead|and\sis)\b", re.IGNORECASE
)
_DENIED = re.compile(
    rf"""
    \b(?: (?:doubt|deny|denies|false|impossible|unlikely|{_NOT}\s(?:\w+\s)?(?:true|the\scase|certain|sure|mean))\sthat
      | no\sway | {_NOT}\s(?:\w+\s)?(?:think|believe|say|claim) )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HELPLESS = r"(?:determine|solve|find|figure|answer|know|compute|calculate|work|tell|see|finish|complete|do|say|decide)"
_NO_ANSWER = re.compile(
    rf"""
    \bi(?:\s(?:really|simply|just|honestly|still|am|was|'m))*\s?(?:'m\s)?
        (?:(?:could|can|do|did|was|am)(?:\s?not|n['\u2019]t)\s(?:\w+\s)?{_HELPLESS}\b | cannot\s(?:\w+\s)?{_HELPLESS}\b
          | give\sup\b | gave\sup\b | have\sno\s(?:idea|clue|answer)\b | fail(?:ed)?\sto\s{_HELPLESS}\b
          | (?:am\s|was\s)?(?:not\s(?:\w+\s)?(?:sure|able|certain)|unable|unsure)\b )
  | (?:^|[.!?\n]\s*)(?:sorry,?\s)?
        (?:unable\sto|(?:can|could)(?:\s?not|n['\u2019]t)|failed\sto)\s(?:\w+\s)?{_HELPLESS}\b
  | (?:^|[.!?\n]\s*)(?:no\s(?:idea|clue|answer)|not\ssure|unsure|unknown)\s*[.!,\n]
  | \b(?:answer|solution|result)\s(?:is|remains)\s(?:unknown|unclear|not\s(?:known|clear))\b
  | \b(?:that|this|it|which)\s(?:is|was|seems|looks)\s(?:wrong|incorrect|not\s(?:right|correct))\s*[.!]*\s*\Z
    """,
    re.VERBOSE | re.IGNORECASE,
)

_VALUE = r"[^\s,;:.?!]*\d[^\s,;?!]*"
_AFTERTHOUGHT = re.compile(
    r"""
    [\s.,;$)*\\\]]*+ \b(?:or|alternatively|maybe|perhaps|possibly|(?:it\s)?could\salso\sbe)\b[\s,:]*+
    (?:(?:else|maybe|perhaps|possibly|equivalently|it\s(?:is|could\sbe|might\sbe)|(?:the\s)?answer\sis)\b[\s,:]*+)?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_POSSIBLE = re.compile(
    rf"""
    (?: \b(?:it|this|that|answer|result|value|solution)\s
          (?:could|might|may)\s(?:(?:also|well|as|just|instead|equally|possibly|even)\s)*be\s
      | \bor\s(?=(?:{_VALUE})\s(?:because|since|if|when|depending)\b)
      | \b(?:but|although|though|while|however|and)[\s,]\s?(?=(?:{_VALUE})
          \s(?:(?:is|would|could|might|may)\s(?:also|equally|be|just)|also\s(?:works|fits)|works\s(?:too|as))\b) )
    (?P<value>(?:\w+\s)?{_VALUE})
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NEXT_SENTENCE_END = re.compile(r"[.!?]\s|\n")


def is_negated(words: str) -> bool:
    """Whether the words right before a value, back to the last comma or "but", deny it."""
    return bool(_NEGATION.search(words, _last_clause(words)))


def _last_clause(words: str) -> int:
    return max((end.end() for end in _CLAUSE_END.finditer(words)), default=0)


def ends_negated(words: str) -> bool:
    """Whether `words` end in a negation of the verb that follows: "It cannot" be 5."""
    return bool(_NEGATED_END.search(words[-60:]))


def is_denied(lead: str) -> bool:
    """Whether the words before a claim deny it: "I doubt that" the answer is 5."""
    return bool(_DENIED.search(lead, _last_clause(lead)))


def has_no_answer(text: str) -> bool:
    """Whether a short text says that it has no answer, or that the one it has is wrong."""
    return bool(_NO_ANSWER.search(text))


def afterthought(text: str, end: int) -> str | None:
    """Return the other answer offered behind the one that ends at `end`: "Or maybe 6.", ", though it could be 6"."""
    if match := _AFTERTHOUGHT.match(text, end, end + 1000):
        span = read_span(text, match.end(), match.end() + 1000).text
        return span if has_maths(span) and is_answer(span) else None
    limit = min(len(text), end + 300)
    sentences = [found.end() for found in _NEXT_SENTENCE_END.finditer(text, end + 2, limit)]
    possible = _POSSIBLE.search(text, end, sentences[1] if len(sentences) > 1 else limit)
    return possible["value"].rstrip(".") if possible else None
