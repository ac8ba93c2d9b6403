"""quiet-time: acts that must not happen on some days or at some hours ("no deploys on Fridays")."""

import re
from datetime import datetime

from bethink.features.guard.acts import find_acts, performs
from bethink.features.guard.check import BREACHED, OBEYED, UNKNOWN, GuardCheck, GuardVerdict
from bethink.features.guard.events import COMMAND
from bethink.features.guard.sentences.mentions import has
from bethink.features.guard.shape import NOT_CONCERNED, Moment, RuleSentence, Shape, make_check

_DAYS = (
    r"mondays?|montags?|(?:los "
    r")?lunes", r"tuesdays?|dienstags?|(?:los )?martes", r"wednesdays?|mittwochs?|(?:los )?miércoles",
    r"thursdays?|donnerstags?|(?:los "
    r")?jueves", r"fridays?|freitags?|(?:los )?viernes", r"saturdays?|samstags?|(?:los )?sábados?",
    r"sundays?|sonntags?|(?:los )?domingos?",
)  # fmt: skip
_WEEKEND = re.compile(r"\bweekends?\b|\bwochenende?n?\b|\bfin(?:es)? de semana\b", re.IGNORECASE)
_AFTER = re.compile(
    r"\b(?:after|nach|después de las|a partir de las)\s+(\d{1,2})(?::00)?\s*(pm|uhr|h)?\b", re.IGNORECASE
)
_ACTS = ("force-push", "deploy", "publish", "push", "commit", "merge", "migration", "pull request")


def parse(sentence: RuleSentence) -> GuardCheck | None:
    """Return a check for a ban of an act on weekdays, weekends, or after an hour."""
    text = sentence.text
    act = next((name for name, _ in find_acts(text) if name in _ACTS), "")
    if not act or not has("negation", text) or re.search(r"\b(?:until|till|bis|hasta)\b", text, re.IGNORECASE):
        return None
    days = tuple(str(day) for day, words in enumerate(_DAYS) if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE))
    days += ("5", "6") if _WEEKEND.search(text) else ()
    hour = _AFTER.search(text)
    if not days and hour is None:
        return None
    limit = (
        None if hour is None else int(hour[1]) + (12 if (hour[2] or "").lower() == "pm" and int(hour[1]) < 12 else 0)
    )
    return make_check("quiet-time", sentence, act=act, kinds=days, limit=limit)


def judge(check: GuardCheck, moment: Moment) -> GuardVerdict:
    """Judge the act by the day and the hour of the event."""
    if moment.event.kind != COMMAND:
        return NOT_CONCERNED
    command = next((item for item in moment.event.script.commands if performs(check.act, item)), None)
    if command is None:
        return NOT_CONCERNED
    try:
        now = datetime.fromisoformat(moment.at)
    except ValueError:
        return GuardVerdict(result=UNKNOWN, matched=str(command))
    is_quiet = str(now.weekday()) in check.kinds or (check.limit is not None and now.hour >= check.limit)
    return GuardVerdict(result=BREACHED if is_quiet else OBEYED, matched=f"{command} at {moment.at}")


SHAPE = Shape(name="quiet-time", order=25, parse=parse, judge=judge)
