"""Split compound claims in Chinese and Japanese, which have no spaces and repeat no subject."""

import re

_NUMBER = "[0-9\uff10-\uff19一二三四五六七八九十百两]{1,4}"
_CHINESE_SUBJECTS = ("用户", "主人")
_CHINESE_BREAK = re.compile("[\uff0c,](?:并且|而且|并|也)?")
_CHINESE_PREDICATE = re.compile(
    rf"(?:今年)?{_NUMBER}岁$|(?:不|很|最|也|都|还)?(?:是|有|住在|在|喜欢|讨厌|害怕|怕|会|对|姓|养|开|吃|喝|说|工作|已婚|单身|离婚|负责)"
)
_CHINESE_BLOCKING = re.compile(
    r"如果|要是|因为|所以|虽然|但|只要|除非|的话|认为|觉得|说[他她它用]|它|他|她|这|那|或|时|就|才"
)
_JAPANESE = re.compile(
    rf"([^、。は]{{1,20}})は(?:({_NUMBER}歳)で|([^、。]{{2,40}}[てで])(?:いて|おり))、([^。]{{2,80}})"
)
_JAPANESE_BLOCKING = re.compile(r"なら|から|ので|と言|と思|たら|れば|場合|とき|時|けど|しかし|それ|これ|あれ|そこ")


def split_unspaced(text: str, about: str) -> list[str]:
    """Return the statements of a compound sentence; none if it is not one."""
    return _split_chinese(text, about) or _split_japanese(text)


def _split_chinese(text: str, about: str) -> list[str]:
    subject = next((name for name in (about, *_CHINESE_SUBJECTS) if name and text.startswith(name)), None)
    if subject is None or _CHINESE_BLOCKING.search(text):
        return []
    end = "。" if text.endswith("。") else ""
    predicates = [part.strip() for part in _CHINESE_BREAK.split(text[len(subject) :].rstrip("。"))]
    if len(predicates) < 2 or not all(_CHINESE_PREDICATE.match(part) for part in predicates):
        return []
    return [f"{subject}{part}{end}" for part in predicates]


def _split_japanese(text: str) -> list[str]:
    match = _JAPANESE.fullmatch(text.rstrip("。"))
    if match is None or "は" in match[4] or "、" in match[4] or _JAPANESE_BLOCKING.search(text):
        return []
    subject, age, verb, second = match.groups()
    end = "。" if text.endswith("。") else ""
    if second.endswith(("です", "ます")):
        first = f"{age}です" if age else f"{verb}います"
    else:
        first = f"{age}だ" if age else f"{verb}いる"
    return [f"{subject}は{first}{end}", f"{subject}は{second}{end}"]
