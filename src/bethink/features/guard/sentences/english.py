"""English words of instructions, by concept. Each value is a pattern of alternatives without groups that capture."""

WORDS = {
    "negation": r"forbid|prohibit|ban|cut (?:out )?the|drop the|no more|never|not|no|don't|dont|do not|doesn't|"
    r"does not|must not|mustn't|cannot|can't|won't|stop|avoid|quit|"
    r"refrain from|stay away from|keep away from|steer clear of|skip|omit|leave out|without|nothing|none|"
    r"off[- ]limits|forbidden|banned|prohibited|under no circumstances|isn't allowed",
    "contrast": r"instead of|rather than|in place of|not|never|over|as opposed to",
    "away": r"switch(?:ed|ing)? from|move(?:d)? (?:away )?from|migrate(?:d)? from|away from|replace[sd]?|supersedes?",
    "positive": r"standardi[sz]ed on|switched to|moved to|use|using|uses|always|prefer|call|run|running|with|only|"
    r"through|via|pass|must|stick to|go with|"
    r"commits? with|build|install|format|search|delete",
    "is_out": r"(?:is|are) (?!not|no)\w+ (?:forbidden|banned|prohibited|taboo)|(?:must|should|may|can)(?: not|n't) "
    r"be (?:used|run|called|touched)|(?:is|are) not (?:to be used|"
    r"allowed)|"
    r"(?:is|are) (?:out|forbidden|banned|off[- ]limits|prohibited|not allowed|taboo|deprecated|a no-go|gone)",
    "is_in": r"(?:is|are) in\b|instead\b",
    "always": r"always|every time|every|needs?|must|required|only|mandatory|have to|needs? to",
    "answer": r"answer|answers|answering|reply|replies|replying|respond|response|responses|talk to me|speak to me|"
    r"write to me|talking to me|speak|communicate|messages to me|summar(?:y|ies)|explain",
    "ask": r"ask|check with me|get my (?:ok|okay|approval|permission|consent)|confirm with me|asking|my "
    r"(?:explicit )?(?:ok|okay|approval|permission|consent|go[- ]ahead|confirmation)|approved|i (?:have )?(?:approve|"
    r"confirm|agree|say so)|consult me|run it by me|asks|asked|wait for me|until i say",
    "before": r"before|prior to|ahead of",
    "only_when": r"only (?:\w+ ){0,3}?(?:when|if|after|once)|unless|until|without|if you (?:haven't|have not|"
    r"didn't|did not)|when you (?:haven't|didn't)",
    "after": r"after|whenever|when|once|if|every time|each time",
    "change": r"chang\w*|touch\w*|edit\w*|modif\w*|updat\w*|alter\w*|writ\w+|adapt\w*|work on",
    "forbid_change": r"touched|edited|changed|modified|altered|overwritten|deleted|touch|edit|hand-edit|change|"
    r"modify|alter|write|overwrite|rewrite|update|add|create|delete|"
    r"remove|put|mess with|go into|commit to",
    "hands_off": r"hands off|keep (?:your hands |away |out |off )(?:off|from|of)?|leave|stay (?:out|away)|read-only|"
    r"off[- ]limits|is (?:frozen|locked|sacred)|are (?:frozen|locked|sacred)|generated",
    "goes_to": r"go(?:es)? (?:to|in|into|under)|belongs? (?:to|in|into|under)|live[s]? (?:in|under)|put|place|save|"
    r"writ\w+|"
    r"store|keep|create|must be in|should be in",
    "claim": r"say|claim|tell me|report|state|pretend|assert",
    "finish": r"finish\w*|are done|you're done|done|stop|wrap up|end|hand over|the end|complete",
    "read": r"read|look at|open|view|inspect",
    "file": r"a file|files|any file|each file|every file|it",
    "passing": r"pass|passes|passed|passing|green|succeed|succeeds|succeeded|successful",
    "say": r"say|saying|write|writing|use|read|hear|see|include|begin with|start with|phrases?|words?",
    "code": r"code|source|codebase|type|typescript|python|javascript|rust|golang|java|library|production|committed",
    "comment": r"comments?",
    "leave": r"leave|add|write|put|use|commit|hard-?code|store",
    "secret": r"secrets?|api keys?|passwords?|credentials?|tokens?|access keys?|private keys?",
    "emoji": r"emojis?|emoticons?|smileys?",
    "em_dash": r"em[- ]dash(?:es)?|long dash(?:es)?",
    "bullets": r"bullet(?:s| points?| lists?)|bulleted lists?|lists",
    "headings": r"headings?|headers?|headlines?",
    "tables": r"tables?",
    "exclamation": r"exclamation (?:marks?|points?)",
    "sentences": r"sentences?",
    "words": r"words?",
    "lines": r"lines?(?: of code)?|loc",
    "files": r"files?",
    "questions": r"questions?",
    "characters": r"characters?|chars?",
    "per_commit": r"(?:in|per|to|a|each|every|one) (?:one |a |single )*commit|commits?",
    "at_most": r"at most|no more than|not more than|never more than|maximum(?: of)?|max\.?|up to|under|below|fewer "
    r"than|"
    r"less than|within|longer than|over|more than|limit(?:ed)? to|exceed|bigger than|larger than|above|beyond|only",
    "subagent": r"sub-?agents?|sub agents?|agents? of your own|parallel agents?",
    "web": r"fetch\w* (?:\w+ )?(?:from|on) the (?:web|internet)|web ?search(?:es)?|search(?:ing)? (?:the |on the "
    r")?(?:web|internet)|brows\w+ the (?:web|internet)|web "
    r"?fetch|"
    r"brows\w+ (?:the )?(?:web|internet)|(?:use|access) the (?:internet|web)|online search(?:es)?|look things up "
    r"online|"
    r"internet searches|google",
    "message": r"messages?|subjects?|titles?|commits?",
    "sign_off": r"sign(?:ed)?[- ]?off(?:-by)?|dco",
    "gpg": r"gpg|signed commits?|cryptographically",
    "co_author": r"co-?authored-by|co-?authors?",
    "mention": r"mention|reference|refer to|include|credit|attribution|advertise",
    "ticket": r"ticket|issue|jira",
    "plan_file": r"plan(?: file)?|saved plan",
    "download": r"download\w*|curl|wget|script from the (?:web|internet)|remote scripts?",
    "pipe": r"pip(?:e|es|ing|ed)",
    "hooks": r"hooks?",
    "vague": r"clean|idiomatic|careful\w*|simple|simpler|readable|think|elegant|quality|best practices|maintainable|"
    r"thorough\w*|concise|smart|nice|attention|good|minimal|sensible|robust|professional|polite|friendly|brief|precise",
}

LANGUAGES = {
    "german": "de",
    "english": "en",
    "spanish": "es",
    "french": "fr",
    "italian": "it",
    "portuguese": "pt",
    "dutch": "nl",
}

NUMBERS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "fifty": 50,
    "hundred": 100,
}

BINDING = {
    "question": r"^(?:so |and |but |hm+,? |ok,? )*(?:should|shall|do (?:we|i|you)|is it|are we|why|what if)\b",
    "report": r"\b[Nn]ote from\b|\b[Oo]ld (?:readme|README|wiki|docs?|rules?|guide)\b|\bnever (?:uses|runs|commits|"
    r"pushes|calls|deletes|touches|edits|installs|asks|writes)\b|"
    r"\b(?:swears|preaches|promised|"
    r"decided|agreed)\b|^(?:He|She|They)\b(?! must)|\b(?:[Tt]he|[Mm]y|[Oo]ur|[Aa]n?|[Ss]ome|[Tt]hat|[Tt]his|[Hh]is|"
    r"[Hh]er|"
    r"[Tt]heir) "
    r"[\w-]+(?: [\w-]+){0,2} (?:says|said|asks|asked|tells|told|thinks|thought|claims|claimed|recommends|"
    r"recommended|suggests|"
    r"suggested|insists|insisted|wrote|writes|believes|believed|prefers|preferred|wants|wanted|argues|argued|"
    r"mentioned|complains|"
    r"complained|advises|advised|states|stated)\b|\b(?:asked|asks|wonders?|wondered|discuss\w*) (?:whether|if|why)\b|"
    r"\bwhether (?:we|to|you|one)\b|\bI (?:heard|read|was told)\b|\b[Ww]e were told\b|^[Tt]ell (?:him|her|them|[A-Z])|"
    r"\b(?:[Hh]e|[Ss]he|[Tt]hey|colleague|boss|friend|wiki|docs?|documentation|readme|README|manager|"
    r"lead|blog|"
    r"article|[Ss]omeone|[Ss]omebody|[Pp]eople|linter|book|guide|policy|page|post|issue|[Ss]tack [Oo]verflow|coworker|"
    r"teammate)\b[^.!?]{0,40}?\b(?:says?|said|tells?|told|claims?|claimed|thinks?|thought|recommends?|recommended|"
    r"reports?|reported|wrote|writes|suggests?|suggested|insists?|reads|states?|prefers?|argues?|argued|wants?|wanted|"
    r"complain\w*|mentioned|believes?|asked)\b|\b[A-Z][a-z]+ (?:\w+ )?(?:says|said|told|claims|claimed|thinks|thought|"
    r"recommends|recommended|suggests|suggested|insists|wants|wanted|wrote|believes)\b|\b[Aa]ccording to\b|"
    r"\b(?:issue|quoted?|following|page|article) text\b|\b[Qq]uote:|\boutdated\b|\b[Ii] disagree\b|"
    r"\b[Hh]ere is (?:the|a|what)\b",
    "own_words": r"\bi(?: have|'ve)? (?:already )?(?:told|said|say|repeat|asked)\b|\bas i said\b|\bi want\b|"
    r"\bi(?:'d| would) "
    r"(?:like|prefer|rather)\b|\bi don't (?:want|care)\b|\bi need\b|\bi prefer\b|\bi insist\b",
    "hypothetical": r"\bi wonder\b|\b(?:once|when|after|as soon as|if) we (?:go|are|have|move|ship|migrate|release|"
    r"launch|"
    r"switch|get|reach|start|"
    r"finish|adopt|upgrade)\b|\bif i were\b|\bi'd never\b|\bideally\b|\bit would be\b|\blet's say\b|\bsuppos\w+ "
    r"(?:we|i|you)\b|"
    r"\bif we ever\b|\bif i ever\b|\bsuppose\b|\bimagine\b|\bhypothetically\b|\bin theory\b|\bwhat "
    r"if\b|"
    r"\bif (?:this|it|we|i) (?:were|was|had)\b|\bi would (?:say|never|not)\b|\bi might\b|\bmaybe we should\b|"
    r"\bperhaps (?:we|you|i)\b|\bone day\b|\bsomeday\b|\bwe could\b|\bin case we\b|\bonce we (?:go|are|have)\b|"
    r"\bassuming\b|\bi wonder\b|\bwe might\b|\bmaybe\b",
    "past": r"\bhad (?:a |the )?rule\b|\b(?:old|former|previous|last) (?:team|job|company|boss|project|employer)\b|"
    r"\bwhen (?:i|we) (?:was|were|worked)\b|\bused to\b|\bback then\b|\bin the past\b|\blast (?:year|month|week|"
    r"time|sprint|quarter)\b|\byesterday\b|"
    r"\bformerly\b|\bpreviously\b|\bonce upon\b|\bat my (?:old|last|former|previous)\b|\b(?:we|i|they) never "
    r"(?:used|ran|"
    r"had|did|touched|committed|pushed|wrote|called)\b|\b(?:years?|months?|weeks?) ago\b|\bin the old days\b|"
    r"\b(?:i|we) (?:didn't|did not|haven't|hadn't|wasn't|weren't|removed|added|fixed|changed|already)\b|"
    r"^you (?:never|always|keep|did|didn't|don't|forgot|just)\b",
    "announce": r"^(?:i'm|i am) not going to\b|^(?:from now on,? )?(?:i'll|i will|i am going to|i'm going to|i've "
    r"never|i have never|i never(?! "
    r"want))\b|"
    r"\bi'll never\b|\bi will never\b",
    "once": r"\bfor this (?:task|one|session|change|commit|time|pr|issue|feature|ticket|branch|conversation|answer|"
    r"reply|"
    r"fix|run|step|job|file)\b|\bthis (?:one )?time\b|\bjust (?:this )?once\b|\bonly (?:this )?once\b|\bfor now\b|"
    r"(?<!from )\btoday\b|\bfor the moment\b|\bin this (?:session|conversation|chat|task)\b|\bthis one (?:reply|"
    r"answer|message|"
    r"commit|change)\b|\buntil\s+(?:we|the (?:release|end|weekend|deadline|meeting|demo|freeze)|tomorrow|monday|"
    r"tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"next|\d)|\btonight\b|\bthis (?:morning|afternoon|evening|week|session)\b|\bthis once\b|\btemporarily\b|"
    r"\bfor the rest of (?:this|the) (?:session|day|conversation)\b|\bright now\b|\bin your next (?:answer|reply|"
    r"message)\b|"
    r"\bfor a moment\b|\bexceptionally\b|\bfor the next (?:hour|task|answer|reply|commit)\b",
    "withdraw": r"\b(?:is|are) [^.]{0,30}\bagain\b|\bstop asking\b|\b(?:no need|don't need|do not need) to ask\b|"
    r"\b(?:is|are) (?:totally |perfectly )?(?:fine|ok|okay|allowed|good) (?:from now on|after all|by "
    r"me|too|here)\b|"
    r"^(?:actually,? )?(?:i|we) (?:like|want|use|need|allow) [^.]*\bagain\b|\byou (?:can|may|could|are (?:allowed|"
    r"free) to) (?:now |again |also |always )*(?:use|edit|touch|"
    r"change|run|call|push|commit|"
    r"delete|answer|write|modify|skip|install)\b(?! only)|\bfeel free to (?:use|edit|touch|change|run|push|commit|"
    r"delete|answer)\b|"
    r"(?<!don't )(?<!do not )(?<!never )\bforget (?:what i|about|the rule|that rule|my|it\b|that\b|the thing)|"
    r"\bnever mind\b|\bignore (?:what i said|my (?:rule|earlier|previous)|the rule)|"
    r"\b(?:is|are) (?:fine|ok|okay|allowed|welcome|permitted|back|good) (?:again|now)\b|\bno longer (?:need|have|"
    r"applies|"
    r"apply|valid|necessary|required|in force|holds?)|\byou (?:can|may|could) (?:now |again )?[^.]*\b(?:again|now)\b|"
    r"\b(?:can|may) (?:now )?be (?:used|edited|changed|touched) again\b|\bi changed my mind\b|\bi take (?:it|that) "
    r"back\b|"
    r"\b(?:drop|lift|scrap|cancel|remove) the (?:rule|ban|restriction)|\b(?:rule|ban|restriction)\b[^.]*\b(?:is "
    r"over|is "
    r"lifted|is gone|no longer|has ended|ended|is off)\b|\byou don't have to [^.]* (?:any ?more|any longer|again)\b|"
    r"\bit's (?:fine|ok|okay) to [^.]* (?:again|now)\b|\bfrom now on you (?:can|may)\b|\bscratch that\b",
    "quoted": r"^(?:<system>|<|\[system|system:)|\bthe user (?:wants|prefers|asks|said|has)\b",
    "describe": r"\bthere(?:'s| is| are| was| were) no\b|\bno [\w.-]+ (?:found|available|installed)\b|\bnot "
    r"found\b|\b(?:is|are) not (?:installed|"
    r"running|available|working|found|green|there|ready)\b|\bi (?:can't|cannot|couldn't) \b|\b(?:doesn't|does not|"
    r"didn't) (?:work|run|"
    r"start|exist|compile)\b|\bfailed with\b|\bit's broken\b|\b(?:is|are) broken\b",
    "task": r"^(?:please,? )?(?:rename|fix|refactor|move|check) [`\"\w-]*[./]|^(?:the|our|this) (?:app|cli|"
    r"function|method|api|service|script|page|"
    r"ui|server|program|users?|button|component|class|parser|library|system|bot|endpoint|website|client) "
    r"[^.]{0,40}?\b(?:should|must|"
    r"shall|does|may|can|will|needs)\b|^(?:please,? )?(?:implement|build|add|write|create) [\"`\u201c]|"
    r"^(?:please,? |now,? |then,? |ok,? |could you |can you )*(?:write|add|create|implement|build|make|"
    r"change|replace|refactor|"
    r"fix|explain|summari[sz]e|translate|remove|show|list|describe|rename|delete|generate|review|document|draft|port|"
    r"convert|extend|improve|debug|investigate|analy[sz]e|compare|quote|print|rewrite) (?:a|an|the|this|that|these|"
    r"those|all|me|"
    r"my|our|some|why|how|one|two|three|it)\b(?! (?:one )?(?:reply|answer|message|response))",
    "repeated": r"\bat most\b|\bno more than\b|\bmax\w*\b|\b(?:always|whenever|each time|every time|from now on|"
    r"every|each)\b|\b(?:when|if|before|after) you\b",
}
