"""Secrets with a recognizable shape: keys with the prefix of a provider, private key blocks, signed tokens."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bethink.providers.redaction_hints import Hints, Index, Lowered
from bethink.providers.redaction_values import is_scrambled


class MatchSpan(NamedTuple):
    """The position of a secret in a text, and its kind."""

    start: int
    end: int
    kind: str


_PREFIXES = {
    "anthropic_key": ["sk-ant-"],
    "openai_key": ["sk-"],
    "google_key": ["AIza", "GOCSPX-", "ya29.", "1//0"],
    "github_token": ["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    "gitlab_token": [
        "glpat-",
        "glrt-",
        "gldt-",
        "glcbt-",
        "glptt-",
        "glft-",
        "glsoat-",
        "glimt-",
        "glagent-",
        "gloas-",
        "glffct-",
        "glrtr-",
        "glwt-",
        "GR1348941",
    ],
    "slack_token": [
        "xoxa-",
        "xoxb-",
        "xoxc-",
        "xoxd-",
        "xoxe-",
        "xoxe.xoxb-",
        "xoxe.xoxp-",
        "xoxp-",
        "xoxr-",
        "xoxs-",
        "xapp-",
    ],
    "stripe_key": ["sk_live_", "rk_live_", "sk_test_", "rk_test_", "sk_org_", "whsec_"],
    "npm_token": ["npm_"],
    "pypi_token": ["pypi-"],
    "hugging_face_token": ["hf_", "api_org_"],
    "digitalocean_token": ["dop_v1_", "doo_v1_", "dor_v1_"],
    "databricks_token": ["dapi"],
    "vault_token": ["hvs.", "hvb.", "hvr."],
    "shopify_token": ["shpat_", "shpca_", "shppa_", "shpss_"],
    "square_token": ["sq0atp-", "sq0csp-"],
    "mailgun_key": ["key-"],
    "linear_key": ["lin_api_", "lin_oauth_"],
    "notion_token": ["ntn_", "secret_"],
    "figma_token": ["figd_", "figo_", "figu_"],
    "sentry_token": ["sntrys_", "sntryu_"],
    "groq_key": ["gsk_"],
    "replicate_token": ["r8_"],
    "supabase_key": ["sbp_", "sb_secret_"],
    "atlassian_token": ["ATATT3", "ATCTT3", "ATBB", "ATTA"],
    "docker_token": ["dckr_pat_", "dckr_oat_"],
    "pulumi_token": ["pul-"],
    "grafana_token": ["glsa_", "glc_"],
    "postman_key": ["PMAK-"],
    "netlify_token": ["nfp_", "nfc_", "nfo_", "nfu_", "nfb_"],
    "planetscale_token": ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
    "heroku_key": ["HRKU-"],
    "fly_token": ["fo1_"],
    "nostr_key": ["nsec1"],
    "tailscale_key": ["tskey-"],
    "model_key": [
        "pplx-",
        "xai-",
        "nvapi-",
        "csk-",
        "fw_",
        "jina_",
        "tgp_v1_",
        "lsv2_pt_",
        "lsv2_sk_",
        "tvly-",
        "sk_",
        "fc-",
        "esecret_",
        "wandb_v1_",
        "sess-",
    ],
    "vector_key": ["pcsk_"],
    "mail_key": ["xkeysib-", "xsmtpsib-", "re_", "mlsn.", "lob_live_", "md-"],
    "build_token": [
        "CCIPAT_",
        "bkua_",
        "sqp_",
        "squ_",
        "sqa_",
        "sgp_",
        "pnu_",
        "ops_eyJ",
        "rubygems_",
        "cio",
        "oy2",
        "CLOJARS_",
        "dbtc_",
        "dbtu_",
        "sm_pat_",
        "glsv_",
    ],
    "cloud_key": [
        "rnd_",
        "napi_",
        "mdb_sa_sk_",
        "CCDB1_",
        "rpa_",
        "e2b_",
        "phx_",
        "AKCp",
        "tfp_",
        "CFPAT-",
        "cfat_",
        "cfut_",
        "vcp_",
        "vca_",
        "vci_",
        "vck_",
        "vcr_",
        "vercel_blob_rw_",
        "ABSK",
    ],
    "payment_key": [
        *("FLWSECK-", "FLWSECK_TEST-", "EZAK", "EZTK", "access-production-", "access-sandbox-"),
        *("duffel_live_", "shippo_live_"),
    ],
    "signing_key": ["signkey-prod-", "signkey-test-"],
    "dropbox_token": ["sl."],
}
_SHAPES = {
    "aws_key": (
        ("AKIA", "ASIA", "ABIA", "ACCA"),
        r"(?:AKIA|ASIA|ABIA|ACCA)(?![A-Z0-9]{0,12}XXXX|[A-Z0-9]{0,12}EXAMPLE)[A-Z2-7]{16}(?![A-Za-z0-9])",
    ),
    "aws_session": (("IQoJb3JpZ2lu", "oGZXIvYXdz"), r"(?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[A-Za-z0-9+/=%]{80,4096}+"),
    "amazon_key": (("amzn",), r"amzn(?:1\.oa2-cs\.v1\.[0-9a-f]{64}|\.mws\.[0-9a-f-]{36})"),
    "azure_key": (
        ("JQQJ99", "AZDO"),
        r"[A-Za-z0-9]{50,54}JQQJ99[A-Za-z0-9]{10,30}+|[A-Za-z0-9]{74,76}AZDO[A-Za-z0-9]{4}(?![A-Za-z0-9])",
    ),
    "doppler_token": (("dp.",), r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{36,48}+"),
    "fly_token": (("fm1_", "fm2_", "fm1r_", "fm1a_"), r"fm[12][ra]?_[A-Za-z0-9+/_-]{40,4096}+={0,2}"),
    "paseto": ((".local.", ".public."), r"v[1-4]\.(?:local|public)\.[\w-]{40,4096}+(?:\.[\w-]{1,512}+)?"),
    "mapbox_token": (("sk.eyJ",), r"sk\.eyJ[\w-]{20,400}+\.[\w-]{10,60}+"),
    "payment_key": (("access_token$",), r"access_token\$(?:production|sandbox)\$[0-9a-z]{10,30}\$[0-9a-f]{32}"),
    "razorpay_key": (("rzp_",), r"rzp_(?:live|test)_[A-Za-z0-9]{14}(?![A-Za-z0-9])"),
    "wallet_key": (
        ("5", "K", "L", "prv"),
        r"(?<![+/=_-])(?:5[HJK][1-9A-HJ-NP-Za-km-z]{49}|[KL][1-9A-HJ-NP-Za-km-z]{51}|[xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,115}+)"
        r"(?![A-Za-z0-9+/=_-])",
    ),
    "stellar_key": (("S",), r"(?<![+/=_-])S[A-Z2-7]{55}(?![A-Za-z0-9+/=_-])"),
    "near_key": (("ed25519:",), r"ed25519:[1-9A-HJ-NP-Za-km-z]{86,88}(?![A-Za-z0-9])"),
    "one_password_key": (("A3-",), r"A3-[A-Z0-9]{6}-[A-Z0-9]{11}(?:-[A-Z0-9]{5}){3}(?![A-Za-z0-9])"),
    "infisical_token": (("st.",), r"st\.[0-9a-f-]{20,40}+\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    "ngrok_token": (("_",), r"[12][A-Za-z0-9]{26}_[A-Za-z0-9]{20,24}(?![A-Za-z0-9_-])"),
    "twitter_token": (("AAAAAAAAAAAAAAAAAAAA",), r"A{18,24}[A-Za-z0-9%]{50,120}+"),
    "launch_key": (("sdk-", "api-"), r"(?:sdk|api)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![A-Za-z0-9-])"),
    "trello_token": (("ATTA",), r"ATTA[0-9a-f]{64,72}+"),
    "new_relic_license": (("NRAL",), r"[0-9a-f]{36}NRAL(?![A-Za-z0-9])"),
    "clickup_token": (("pk_",), r"pk_[0-9]{6,10}_[A-Z0-9]{32}(?![A-Za-z0-9])"),
    "age_key": (("AGE-SECRET-KEY-",), r"AGE-SECRET-KEY-1[A-Z0-9]{50,64}+"),
    "new_relic_key": (("NRAK-", "NRII-", "NRRA-"), r"NR(?:AK|II|RA)-[A-Z0-9]{27}(?![A-Za-z0-9])"),
    "twilio_key": (("SK",), r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
    "sendgrid_key": (("SG.",), r"SG\.[\w-]{16,40}+\.[\w-]{16,80}+"),
    "telegram_token": ((":AA",), r"[0-9]{8,10}:AA[\w-]{32,34}(?![\w-])"),
    "google_key": ((":APA91b",), r"[\w-]{8,30}+:APA91b[\w-]{100,200}+"),
    "discord_token": ((".",), r"[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    "terraform_token": ((".atlasv1.",), r"[A-Za-z0-9]{10,20}+\.atlasv1\.[\w-]{50,80}+"),
    "airtable_token": (("pat",), r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    "azure_secret": (("8Q~", "7Q~"), r"[\w.~-]{3}[78]Q~[\w.~-]{30,36}+"),
    "mailchimp_key": (("-us",), r"[0-9a-f]{32}-us[0-9]{1,2}(?![A-Za-z0-9])"),
    "dynatrace_token": (("dt0",), r"dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    "cloudflare_key": (("v1.0-",), r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,160}+"),
    "hubspot_token": (("pat-",), r"pat-[a-z]{2}[0-9]-[0-9a-f-]{36}"),
    "access_token": (("EAA",), r"(?<![+/])EAA[A-Za-z][\w-]{55,255}+(?![+/=])"),
    "webhook": (
        ("hooks.slack.com/", "/api/webhooks/", ".webhook.office.com/"),
        r"https://(?:hooks\.slack\.com/(?:services|workflows|triggers)/[\w/-]{20,200}+"
        r"|(?:\w{1,12}\.)?discord(?:app)?\.com/api/webhooks/[0-9]{10,20}/[\w-]{20,100}+"
        r"|[\w-]{1,60}\.webhook\.office\.com/[\w/@-]{40,400}+)",
    ),
}


def alternation(words: Iterable[str]) -> str:
    """Return an alternation that branches on the first character, longest word first, so that it fails fast."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words, key=len, reverse=True):
        groups.setdefault(word[0], []).append(re.escape(word[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(endings)})" for first, endings in groups.items())


_KINDS = {prefix: kind for kind, prefixes in _PREFIXES.items() for prefix in prefixes}
_PREFIXED = re.compile(
    rf"(?<![A-Za-z0-9])({alternation(_KINDS)})[A-Za-z0-9_-]{{16,}}+(?:\.[A-Za-z0-9_-]{{16,}}+|\.[0-9]{{2}}\.[a-z0-9]{{7,9}}|=[0-9A-F]{{8}}|==?)?"
)
_SHAPED = [
    (kind, hints, re.compile(rf"(?<![A-Za-z0-9])(?:{shape})", re.ASCII)) for kind, (hints, shape) in _SHAPES.items()
]
_INDEX = Index(Hints(*map(str.lower, hints)) for _, hints, _ in _SHAPED)
_MIN_LENGTHS = {"wallet_key": 51, "stellar_key": 56, "ngrok_token": 48, "discord_token": 58, "infisical_token": 88}
"""Minimum lengths of tokens whose hints occur in many texts."""
_PREFIX_HINTS = Hints(*map(str.lower, _KINDS), "akia", "asia")
_MIN_LENGTH = 19
_NOT_SCRAMBLED = {"aws_key", "new_relic_key", "age_key", "webhook", "telegram_token", "amazon_key", "launch_key"}
_HEAD = re.compile(
    rf"(?<![A-Za-z0-9_-])((?:{alternation(_KINDS)})|AKIA"
    rf"|ASIA)([A-Za-z0-9_-]*+)(?==?\r?\n[ \t>|]{{0,8}}[A-Za-z0-9]|[ ][A-Za-z0-9])"
)
_NEXT = re.compile(r"(=?\r?\n[ \t>|]{0,8}|[ ])([A-Za-z0-9_-]{4,}+)(?![^\s\"'`,;.)\]}=])")
_MAX_PIECES = 20
_MIN_BODY = 16
_JWT = re.compile(r"(?<![\w.-])eyJ[\w-]{8,}+\.[\w-]{8,}+(?:\.[\w-]*+){0,3}", re.ASCII)
_MARKER = re.compile(r"-----(BEGIN|END) ([A-Z0-9 ]{0,60}+)-----")
_BODY = re.compile(r"[A-Za-z0-9+/]{16}")
_LINES = re.compile(
    r"(?:(?:\r?\n|\\r|\\n|[ \t]){1,8}+"
    r"(?:[A-Za-z0-9+/]{16,}+={0,2}|(?:Proc-Type|DEK-Info|Version|Comment|Hash): [^\n\\]{1,100}))*+"
    r"(?:(?:\r?\n|\\r|\\n){1,2}[A-Za-z0-9+/]{1,15}={0,2}(?=\r?\n|\\r|\\n|[\"']|\Z))?"
)
_PUTTY = re.compile(r"Private-Lines: [0-9]{1,3}((?:\r?\n[A-Za-z0-9+/=]{1,64}(?![^\r\n]))+)")


def longest_word(text: str) -> int:
    """Return the length of the longest word. Most texts have no word that is long enough for a token."""
    return max(map(len, text.split()), default=0)


def find_tokens(text: str, lowered: Lowered) -> Iterator[MatchSpan]:
    """Find secrets that are recognizable without a name."""
    if "-----BEGIN " in text:
        yield from _private_keys(text)
    if "Private-Lines:" in text:
        yield from (MatchSpan(*match.span(1), "private_key") for match in _PUTTY.finditer(text))
    longest = longest_word(text)
    if longest >= _MIN_LENGTH:
        yield from _tokens(text, lowered, longest)


def _tokens(text: str, lowered: Lowered, longest: int) -> Iterator[MatchSpan]:
    for match in _PREFIXED.finditer(text) if lowered.has(_PREFIX_HINTS) else ():
        prefix = match.group(1)
        if is_scrambled(match.group()[len(prefix) :], min_length=9, run=6):
            yield MatchSpan(*match.span(), _KINDS[prefix])
    for position in _INDEX.positions_in(lowered):
        kind, hints, shape = _SHAPED[position]
        if longest >= _MIN_LENGTHS.get(kind, _MIN_LENGTH) and any(hint in text for hint in hints):
            for match in shape.finditer(text):
                if kind in _NOT_SCRAMBLED or is_scrambled(match.group(), run=6):
                    yield MatchSpan(*match.span(), kind)
    if "eyJ" in text:
        yield from (MatchSpan(*match.span(), "jwt") for match in _JWT.finditer(text))


def find_broken_tokens(text: str, lowered: Lowered) -> Iterator[MatchSpan]:
    """Find tokens with a known prefix that are split by a line break, or by a space after a short beginning."""
    if not lowered.has(_PREFIX_HINTS):
        return
    done = 0
    for head in _HEAD.finditer(text):
        if head.start() < done:
            continue
        prefix, body, end = head[1], head[2], head.end()
        for _ in range(_MAX_PIECES):
            piece = _NEXT.match(text, end)
            if piece is None or (piece[1] == " " and len(body) >= _MIN_BODY):
                break
            if not is_scrambled(piece[2], min_length=min(5, len(piece[2]))):
                break
            body, end = body + piece[2], piece.end()
        if end > head.end() and len(body) >= _MIN_BODY and is_scrambled(body, min_length=9, run=6):
            done = end
            yield MatchSpan(head.start(), end, _KINDS.get(prefix, "aws_key"))


def _private_keys(text: str) -> Iterator[MatchSpan]:
    markers = list(_MARKER.finditer(text))
    for index, begin in enumerate(markers):
        if begin[1] == "END" or "PRIVATE KEY" not in begin[2]:
            continue
        after = markers[index + 1] if index + 1 < len(markers) else None
        if after is not None and after[1] == "END":
            end = after.end()
        else:
            lines = _LINES.match(text, begin.end())
            end = lines.end() if lines else begin.end()
        if _BODY.search(text, begin.end(), end):
            yield MatchSpan(begin.start(), end, "private_key")
