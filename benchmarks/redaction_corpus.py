"""A second corpus for the redactor, written before its rules were tuned: random secrets in many kinds of messages."""

import base64
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.redaction_negatives import NEGATIVES
from benchmarks.redaction_values import ALNUM, B64, HEX, UPPER, URL, Maker


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One message, and the secret that must vanish from it; `None` where there is none."""

    kind: str
    text: str
    secret: str | None


_BARE = (
    "hey, quick one: {x} stopped working over the weekend, any idea?",
    "{x}",
    "2026-03-02T10:11:12Z INFO  boot config loaded key={x} region=eu-west-1",
    '{"level":"warn","msg":"retry","auth":"{x}","attempt":3}',
    "ich habe {x} eingetragen, trotzdem kommt 403",
    "- name: deploy\n  run: ./deploy.sh {x}\n",
    "it says invalid credentials?? im using {x}, copied straight from teh dashboard",
)
_Make = Callable[[Maker], str]
_PREFIXED: dict[str, _Make] = {
    "groq": lambda m: "gsk_" + m.some(52),
    "replicate": lambda m: "r8_" + m.some(37),
    "supabase": lambda m: "sbp_" + m.some(40, HEX),
    "doppler": lambda m: "dp.pt." + m.some(43),
    "atlassian": lambda m: "ATATT3xFfGF0" + m.some(172, URL) + "=" + m.some(8, "0123456789ABCDEF"),
    "linear": lambda m: "lin_api_" + m.some(40),
    "notion": lambda m: "ntn_" + m.some(46),
    "figma": lambda m: "figd_" + m.some(40, URL),
    "sentry": lambda m: "sntryu_" + m.some(64, HEX),
    "shopify": lambda m: m.pick("shpat_", "shpss_") + m.some(32, HEX),
    "square": lambda m: "sq0csp-" + m.some(43, URL),
    "openai_service": lambda m: "sk-svcacct-" + m.some(60, URL) + "T3BlbkFJ" + m.some(60, URL),
    "gitlab_runner": lambda m: "glrt-" + m.some(20, URL),
    "slack_app": lambda m: f"xapp-1-A{m.some(10, UPPER)}-{m.number(10**12, 10**13)}-{m.some(64, HEX)}",
    "docker_hub": lambda m: "dckr_pat_" + m.some(27, URL),
    "pulumi": lambda m: "pul-" + m.some(40, HEX),
    "terraform_cloud": lambda m: m.some(14) + ".atlasv1." + m.some(64, URL),
    "grafana": lambda m: "glsa_" + m.some(32) + "_" + m.some(8, HEX),
    "new_relic": lambda m: "NRAK-" + m.some(27, UPPER),
    "postman": lambda m: "PMAK-" + m.some(24, HEX) + "-" + m.some(34, HEX),
    "airtable": lambda m: "pat" + m.some(14) + "." + m.some(64, HEX),
    "stripe_webhook": lambda m: "whsec_" + m.some(32),
    "perplexity": lambda m: "pplx-" + m.some(48),
    "google_client": lambda m: "GOCSPX-" + m.some(28, URL),
    "google_access": lambda m: "ya29." + m.some(120, URL),
    "netlify": lambda m: "nfp_" + m.some(36),
    "planetscale": lambda m: "pscale_tkn_" + m.some(43, URL),
    "heroku": lambda m: "HRKU-" + m.some(60, URL),
    "fcm": lambda m: m.some(11, URL) + ":APA91b" + m.some(134, URL),
    "discord_hook": lambda m: f"https://discord.com/api/webhooks/{m.number(10**17, 10**18)}/{m.some(68, URL)}",
    "json_web_token": Maker.jwt,
}

_CONTEXT: dict[str, tuple[_Make, tuple[str, ...]]] = {
    "cloudflare": (
        lambda m: m.some(40, URL),
        ("CLOUDFLARE_API_TOKEN={x}", "dns_cloudflare_api_token = {x}", "X-Auth-Key: {x}", "cf api token: {x}"),
    ),
    "azure_client": (
        lambda m: m.some(3) + "8Q~" + m.some(34, URL + "~."),
        ("AZURE_CLIENT_SECRET={x}", '  client_secret   = "{x}"\n  tenant_id = var.tenant', "az login --password {x}"),
    ),
    "azure_sas": (
        lambda m: m.some(43, ALNUM) + "%3D",
        (
            "https://acct.blob.core.windows.net/c/f.csv?sv=2024-11-04&se=2026-01-01&sr=b&sp=r&sig={x}",
            "SAS: ?sv=2022-11-02&ss=b&srt=co&sig={x}&se=2027-01-01",
            "wget 'https://a.blob.core.windows.net/x?sp=rl&sig={x}'",
        ),
    ),
    "env_file_pem": (
        lambda m: m.pem("EC PRIVATE KEY").replace("\n", "\\n"),
        ('PORT=8080\nJWT_PRIVATE_KEY="{x}"\nDEBUG=0\n', '{"pk": "{x}", "kid": "a1"}', "export KEY='{x}'"),
    ),
    "pgp_block": (
        lambda m: m.pem("PGP PRIVATE KEY BLOCK"),
        ("{x}", "gpg --export-secret-keys gave me\n{x}\nis that right?", "backup:\n\n{x}"),
    ),
    "encrypted_pem": (
        lambda m: m.pem("ENCRYPTED PRIVATE KEY"),
        ("cat server.key\n{x}", "tls.key: |\n{x}\ntls.crt: |\n", "why does openssl reject this?\n{x}"),
    ),
    "amqp_url": (
        lambda m: m.some(16),
        (
            "amqp://worker:{x}@mq.acme.test:5672/%2f",
            "CELERY_BROKER_URL=amqps://app:{x}@rabbit/",
            "broker amqp://w:{x}@q",
        ),
    ),
    "mysql_url_in_trace": (
        lambda m: m.password().replace("@", "_").replace("#", "_").replace("?", "_").replace("%", "_"),
        (
            "sqlalchemy.exc.OperationalError: could not connect to mysql+pymysql://shop:{x}@10.1.2.3:3306/shop",
            'File "db.py", line 8\n    engine = create_engine("mysql://root:{x}@db/app")\nKeyError: 1',
            "DATABASE_URL: mysql://svc:{x}@mysql.prod.svc.cluster.local/orders",
        ),
    ),
    "jdbc": (
        lambda m: m.some(14),
        (
            "jdbc:postgresql://pg:5432/app?user=app&password={x}&ssl=true",
            "spring.datasource.password={x}\nspring.datasource.username=app",
            "jdbc:sqlserver://h:1433;databaseName=d;user=sa;password={x};encrypt=true",
        ),
    ),
    "ado_net": (
        lambda m: m.some(12) + "!9",
        (
            "Server=tcp:sql1,1433;Database=crm;User ID=crm;Password={x};Encrypt=True;",
            '"ConnectionStrings": {"Main": "Host=pg;Username=u;Password={x};Database=d"}',
            "Data Source=.;Initial Catalog=x;User Id=sa;Pwd={x}",
        ),
    ),
    "kubernetes": (
        lambda m: base64.b64encode(m.token().encode()).decode(),
        (
            "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  password: {x}\n",
            "kind: Secret\ndata:\n  API_TOKEN: {x}\n",
            "$ kubectl get secret db -o yaml\ndata:\n  redis-password: {x}\n  username: YXBw",
        ),
    ),
    "terraform": (
        lambda m: m.password(),
        (
            'resource "aws_db_instance" "main" {\n  username = "app"\n  password = "{x}"\n}',
            'variable "db_password" {\n  default = "{x}"\n}',
            'master_password        = "{x}"\nskip_final_snapshot    = true',
        ),
    ),
    "compose": (
        lambda m: m.password().replace("#", "-"),
        (
            "services:\n  db:\n    image: postgres:16\n    environment:\n      POSTGRES_PASSWORD: {x}\n",
            "    environment:\n      - MYSQL_ROOT_PASSWORD={x}\n      - MYSQL_DATABASE=app\n",
            "  redis:\n    command: redis-server --requirepass {x}\n",
        ),
    ),
    "dot_env": (
        Maker.token,
        (
            "APP_ENV=production\nSESSION_SECRET={x}\nLOG_LEVEL=info\n",
            "NODE_ENV=dev\nSTRIPE_WEBHOOK_SECRET='{x}'\n",
            "# mail\nSMTP_PASS={x}\nSMTP_PORT=587",
            "ENCRYPTION_KEY={x}\nJWT_SECRET_KEY_OLD=\n",
        ),
    ),
    "json_log": (
        Maker.token,
        (
            '{"ts":1712,"lvl":"debug","body":{"grant_type":"refresh_token","refresh_token":"{x}"}}',
            '{"event":"login","access_token": "{x}","token_type":"bearer","expires_in":3600}',
            "{'apiKey': '{x}', 'region': 'us'}",
            '{\\"id_token\\": \\"{x}\\", \\"scope\\": \\"openid\\"}',
        ),
    ),
    "http_trace": (
        Maker.token,
        (
            "> GET /v2/me HTTP/1.1\n> Host: api.test\n> Authorization: Token {x}\n> Accept: */*\n",
            "POST /login HTTP/1.1\r\nX-Auth-Token: {x}\r\nContent-Length: 12\r\n",
            "GET /feed?access_token={x}&limit=10 HTTP/1.1",
            "< Set-Cookie: sessionid={x}; Path=/; HttpOnly",
            "Cookie: theme=dark; session={x}",
        ),
    ),
    "basic_auth": (
        lambda m: base64.b64encode(f"{m.words(1)}:{m.password()}x".encode()).decode(),
        (
            "Authorization: Basic {x}",
            "curl -H 'authorization: Basic {x}' https://api.test",
            "headers['Authorization'] = 'Basic {x}'",
        ),
    ),
    "netrc": (
        lambda m: m.some(18),
        (
            "machine api.heroku.test\n  login me@acme.test\n  password {x}\n",
            "machine ftp.acme.test login bob password {x}",
            "cat ~/.netrc\nmachine git.acme.test login ci password {x}\nmachine b",
        ),
    ),
    "package_registry": (
        lambda m: str(uuid.UUID(int=m.random.getrandbits(128))),
        (
            "//registry.npmjs.org/:_authToken={x}",
            "registry=https://npm.acme.test\n//npm.acme.test/:_authToken={x}\nalways-auth=true",
            "npm config set //r.test/:_authToken {x}",
        ),
    ),
    "shell": (
        lambda m: m.some(13),
        (
            "sshpass -p '{x}' ssh root@10.0.0.4",
            "curl -u admin:{x} https://nexus.acme.test/repo",
            "mysql -u root -p{x} shop < dump.sql",
            "docker login -u ci --password {x} registry.test",
            "redis-cli -h r1 -a {x} ping",
        ),
    ),
    "wireguard": (
        lambda m: m.some(43, B64) + "=",
        (
            "[Interface]\nPrivateKey = {x}\nAddress = 10.8.0.2/24\n",
            "PresharedKey={x}",
            "wg: PrivateKey = {x} and nothing connects",
        ),
    ),
    "wifi": (
        lambda m: m.password().replace(";", ""),
        (
            "WIFI:T:WPA;S:HomeNet;P:{x};;",
            'network={\n  ssid="HomeNet"\n  psk="{x}"\n}',
            "wifi is HomeNet, password {x}",
            "Guest WLAN: cafe / Passwort: {x}",
        ),
    ),
    "pair": (
        Maker.password,
        (
            "user: admin\npass: {x}",
            "login: svc_backup / password: {x}",
            "username=deploy&password={x}",
            "creds are admin / {x}",
            "log in with root:{x}",
        ),
    ),
    "english": (
        Maker.password,
        (
            "my netflix password is {x} in case you need it",
            "ok the password for the vault is {x}.",
            "I reset it, new password: {x}",
            "the admin pw is now {x}",
            "use {x} as the password",
            "Password = {x} (case sensitive!)",
        ),
    ),
    "typos": (
        Maker.password,
        ("teh pasword is {x}", "my passwrd: {x} thx", "passowrd={x}", "pwd {x} pls dont share", "PASSWORD IS {x} !!"),
    ),
    "german": (
        Maker.password,
        ("mein Passwort ist {x}", "Das Kennwort lautet {x}.", "Passwort: {x}", "Zugangsdaten: admin / {x}"),
    ),
    "romance": (
        Maker.password,
        (
            "mon mot de passe est {x}",
            "mot de passe : {x}",
            "la contraseña es {x}",
            "contraseña: {x}",
            "a senha é {x}",
            "la mia password è {x}",
        ),
    ),
    "slavic_and_cjk": (
        Maker.password,
        ("пароль: {x}", "мой пароль {x}", "密码是 {x}", "密码\uff1a{x}", "パスワードは {x} です", "hasło: {x}"),
    ),
    "pin": (
        lambda m: str(m.number(1000, 999999)),
        ("my PIN is {x}", "the door pin code is {x}", "sim pin: {x}", "bank card pin = {x}"),
    ),
    "long_phrase": (
        lambda m: m.words(24),
        ("seed phrase: {x}", "my 24 word recovery phrase is {x}", "Mnemonic:\n{x}\n", 'MNEMONIC="{x}"'),
    ),
    "numbered_phrase": (
        lambda m: " ".join(f"{index}. {m.words(1)}" for index in range(1, 13)),
        ("wallet recovery phrase:\n{x}", "seed words: {x}", "my seed phrase {x}"),
    ),
    "one_time_seed": (
        lambda m: m.some(m.random.choice([16, 26, 32]), "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
        (
            "otpauth://totp/GitHub:me?secret={x}&digits=6&period=30",
            "2fa secret key: {x}",
            "scan failed, so I typed the TOTP key {x}",
            "oathtool --totp -b {x}",
        ),
    ),
    "chain_key": (
        lambda m: "0x" + m.some(64, HEX),
        ("PRIVATE_KEY={x}", "my eth private key is {x}", "deployer private key: {x}", 'const privateKey = "{x}";'),
    ),
    "near_keyword": (
        lambda m: m.some(36),
        (
            "the api key I got from support is this one: {x}",
            "here's our secret for the staging webhook -> {x}",
            "access token (valid until friday): {x}",
            "license key {x} for 5 seats",
            "credential to use: {x}",
        ),
    ),
}
_LEAD = ("", "", "Morning! ", "fyi ", "Salut, ", "@dana ", "> quoted\n\n", "1) ")
_TAIL = ("", "", "\n", "\nthx", "\n\nBest,\nR.", "\nCiao!")


def _positive(maker: Maker, kind: str, make: _Make, templates: tuple[str, ...]) -> Sample:
    secret = make(maker)
    core = maker.pick(*templates).replace("{x}", secret)
    lead = "" if "\n" in core or core.startswith("{") else maker.pick(*_LEAD)
    return Sample(kind=kind, text=lead + core + maker.pick(*_TAIL), secret=secret)


def positives() -> dict[str, tuple[_Make, tuple[str, ...]]]:
    """Return every kind of secret with its templates."""
    return {**{kind: (make, _BARE) for kind, make in _PREFIXED.items()}, **_CONTEXT}


def samples(seed: int, per_kind: int = 25) -> list[Sample]:
    """Return the corpus of a seed: so many messages of each kind, with secrets and without."""
    maker = Maker(seed)
    made = [_positive(maker, kind, *entry) for kind, entry in positives().items() for _ in range(per_kind)]
    return made + [
        Sample(kind=kind, text=maker.pick(*_LEAD) + make(maker), secret=None)
        for kind, make in NEGATIVES.items()
        for _ in range(per_kind)
    ]
