"""Hard negatives for the redactor: messages that look as if they held a secret, and hold none."""

import base64
import uuid
from collections.abc import Callable

from benchmarks.redaction_values import ALNUM, B64, HEX, LETTERS, UPPER, URL, Maker


def _uuid(m: Maker) -> str:
    return str(uuid.UUID(int=m.random.getrandbits(128), version=4))


NEGATIVES: dict[str, Callable[[Maker], str]] = {
    "go_sum": lambda m: f"github.com/{m.words(1)}/{m.words(1)} v1.{m.number(0, 20)}.0 h1:{m.some(43, B64)}=",
    "cargo_lock": lambda m: f'name = "serde"\nversion = "1.0.2"\nchecksum = "{m.some(64, HEX)}"',
    "etag": lambda m: m.pick(
        f'ETag: W/"{m.some(32, HEX)}"', f"Last-Event-ID: {m.some(24)}", f"X-Request-Id: {_uuid(m)}"
    ),
    "script_integrity": lambda m: (
        f'<script src="a.js" integrity="sha384-{m.some(64, B64)}" crossorigin="anonymous"></script>'
    ),
    "pod_name": lambda m: (
        f"pod/{m.words(1)}-api-{m.some(10, HEX)}-{m.some(5, HEX)} restarted {m.number(2, 90)} times, "
        "token-mount is fine"
    ),
    "arn": lambda m: (
        f"arn:aws:secretsmanager:eu-west-1:{m.number(10**11, 10**12)}:secret:prod/{m.words(1)}-{m.some(6)} "
        "cannot be read"
    ),
    "object_id": lambda m: f'db.users.find({{_id: ObjectId("{m.some(24, HEX)}")}})',
    "schema": lambda m: m.pick(
        '"password": {"type": "string", "minLength": 12}',
        "password:\n  type: string\n  format: password\n",
        '<input type="password" name="password" placeholder="Your password">',
        '"required": ["username", "password", "token"]',
        "CREATE TABLE users (id bigint PRIMARY KEY, password varchar(255) NOT NULL, token text)",
    ),
    "translations": lambda m: m.pick(
        '"password": "Password", "forgot_password": "Forgot your password?"',
        '"passwordTooShort": "Das Passwort ist zu kurz"',
        "password.label=Mot de passe",
        '"token_expired": "Your session has expired, please log in again"',
    ),
    "typed_code": lambda m: m.pick(
        "def login(self, username: str, password: str, token: str | None = None) -> Session:",
        "interface Props { password: string; apiKey?: string; token: Token | null }",
        "private final String password; private SecretKey secretKey;",
        "password = forms.CharField(widget=forms.PasswordInput)",
        "self.password = password; self._token = token or self._default_token",
        "let token = req.headers.get('authorization')?.split(' ')[1];",
        "func New(apiKey string, secret []byte) *Client {",
        "user.password = bcrypt.hash(password, 12)",
    ),
    "from_environment": lambda m: m.pick(
        "SECRET_KEY = env('DJANGO_SECRET_KEY')",
        "const apiKey = process.env.OPENAI_API_KEY;",
        'password: "${DB_PASSWORD:?set me}"',
        "token: ${{ secrets.GITHUB_TOKEN }}",
        "password = var.db_password",
        "api_key: !Ref ApiKeyParameter",
        "DB_PASSWORD=$(pass show prod/db)",
        "export TOKEN=`cat ~/.token`",
        "password_file: /run/secrets/db_password",
        "secretKeyRef:\n  name: db-credentials\n  key: password",
        "client_secret = data.vault_generic_secret.app.data",
        "token: %GITLAB_TOKEN%",
    ),
    "documentation": lambda m: m.pick(
        "Authorization: Bearer <token>",
        "curl -H 'Authorization: Bearer $TOKEN' https://api.test",
        "Authorization: Basic base64(user:password)",
        "Keys start with AKIA, tokens with ghp_ or sk-ant-, followed by letters.",
        "The pattern is ghp_[A-Za-z0-9]{36} for classic ones.",
        "A JWT has the form header.payload.signature and starts with eyJ.",
        "api_key=YOUR_API_KEY",
        "token: <paste token here>",
        'password = "changeme"',
        "redis://localhost:6379/0 and postgres://localhost/app need no password",
        "https://user:pass@example.com/path is the general form",
    ),
    "masked": lambda m: m.pick(
        f"sk-proj-...{m.some(4)} was revoked",
        f"the key ending in {m.some(4)} expired",
        f"token: ghp_****{m.some(4)}",
        "password: [hidden]",
        "password=******** host=db",
        "api_key: <redacted>",
        "secret: (unchanged)",
        "SECRET_KEY=XXXXXXXXXXXXXXXXXXXXXXXX",
    ),
    "password_hash": lambda m: m.pick(
        f"the stored hash is $2b$12${m.some(53, ALNUM + './')}",
        f"argon2: $argon2id$v=19$m=65536,t=3,p=4${m.some(22, B64)}${m.some(43, B64)}",
        f"sha1sum says {m.some(40, HEX)}",
        f"md5: {m.some(32, HEX)}  backup.tar.gz",
        f"password_hash mismatch for user {m.number(1, 999)}",
    ),
    "log_line": lambda m: m.pick(
        f"token refreshed in {m.number(3, 900)}ms",
        f"prompt_tokens: {m.number(100, 9000)}, completion_tokens: {m.number(10, 999)}, total_tokens: 9999",
        f"SyntaxError: Unexpected token '<', \"<!DOCTYPE\" at position {m.number(0, 99)}",
        f"PASS tests/test_login.py::test_password_is_hashed[{m.number(1, 9)}]",
        f"pass: {m.number(10, 900)} fail: 0 skip: {m.number(0, 9)}",
        f"invalid password for user admin from 10.0.0.{m.number(1, 250)} port {m.number(1024, 65000)} ssh2",
        "secret/db-credentials created, token/ci unchanged",
        "keys=12 tokens=34 passwords=0",
    ),
    "machine_learning": lambda m: m.pick(
        'tokenizer.pad_token = "[PAD]"; tokenizer.eos_token = "</s>"',
        f"max_new_tokens={m.number(16, 4096)}, do_sample=True, seed={m.number(1, 9999)}",
        "special tokens: <|endoftext|> and <|im_start|>",
        "tokens/sec went from 31.4 to 58.9 with paged attention",
        f"model = AutoModel.from_pretrained('{m.words(1)}/{m.words(1)}-7b', token=hf_token)",
        "hf_hub_download(repo_id, filename) and npm_config_registry are unrelated",
    ),
    "template": lambda m: m.pick(
        "<form>{% csrf_token %}<input name=q></form>",
        '<meta name="csrf-token" content="{{ csrf_token() }}">',
        "password: {{ vault_db_password }}",
        "apiKey={apiKey}&token={token}",
        "f'token={token!r} password={password}'",
        'log.info("token=%s", token)',
    ),
    "talk": lambda m: m.pick(
        "Does the password have to be longer than twelve characters?",
        "He told me the password is weak and should be changed.",
        "The token is valid for one hour and then it is refreshed.",
        "the secret is out: we are moving to Lisbon in May!",
        "My api key is not working, what should I check first?",
        "your password is about to expire, says the mail",
        "The PIN is four digits long and is sent by post.",
        "a recovery phrase is a list of twelve words that restores a wallet, never share it with anyone at all",
        "we played Secret Santa and I got keyed up about tokens for the arcade",
        "Please pass the salt: it is next to the key lime pie.",
    ),
    "talk_elsewhere": lambda m: m.pick(
        "Ich habe mein Passwort vergessen, wie setze ich es zurück?",
        "Das Passwort ist abgelaufen und muss geändert werden.",
        "J'ai oublié mon mot de passe, que faire ?",
        "La contraseña es demasiado corta según el formulario.",
        "Esqueci a minha senha e o link não chega.",
        "Я забыл пароль, что делать?",
        "忘记密码怎么办\uff1f",
        "パスワードを忘れました。",
    ),
    "mnemonic_talk": lambda m: m.pick(
        "a mnemonic for the planets: my very educated mother just served us noodles",
        "The mnemonic for this shortcut is simple to remember once you know what each of the letters stands for.",
        "Seed phrase support is on the roadmap and we hope that it will be ready by the end of next month.",
        f"random seed: {m.number(1, 10**6)}, shuffle the words in the list before you train anything on them at all",
    ),
    "ssh_fingerprint": lambda m: (
        f"ED25519 key fingerprint is SHA256:{m.some(43, B64)}. "
        f"Are you sure you want to continue? known_hosts: |1|{m.some(27, B64)}=|"
    ),
    "public_block": lambda m: m.pem(
        m.pick("PUBLIC KEY", "PGP PUBLIC KEY BLOCK", "CERTIFICATE REQUEST", "PGP SIGNATURE")
    ),
    "rsa_public": lambda m: f"ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{m.some(340, B64)} ci@build",
    "bitcoin": lambda m: f"tip jar: bc1q{m.some(38, 'qpzry9x8gf2tvdw0s3jn54khce6mua7l')}",
    "iban": lambda m: (
        f"IBAN DE{m.number(10, 99)} {m.number(1000, 9999)} {m.number(1000, 9999)} 0000 0000 00, BIC {m.some(8, UPPER)}"
    ),
    "plain_url": lambda m: m.pick(
        f"https://acme.test/{m.words(1)}/{m.some(22, URL)}?utm_source=mail&page={m.number(1, 9)}",
        "git clone git@github.com:acme/secret-santa.git",
        "ssh://git@git.acme.test:2222/team/key-store.git",
        "see https://docs.test/auth/tokens#api-keys and mailto:security@acme.test",
        f"https://figma.test/file/{m.some(22)}/Design-Tokens?node-id=0-1",
        "http://localhost:3000/reset?email=a@b.test",
        "https://acme.test/@alice/status:1/p@ge",
    ),
    "data_url": lambda m: f"background: url(data:font/woff2;base64,d09GMgABAAAAA{m.some(300, B64)}=)",
    "jupyter_image": lambda m: f'"image/png": "iVBORw0KGgoAAAANSUhEUg{m.some(500, B64)}=\\n"',
    "trace_context": lambda m: f"trace_id={m.some(32, HEX)} span_id={m.some(16, HEX)} key=user:{m.number(1, 999)}",
    "hex_dump": lambda m: " ".join(m.some(2, HEX) for _ in range(32)),
    "css_tokens": lambda m: m.pick(
        "--token-color: #0f172a; key-frames: slide-in-from-left",
        "design token: color-primary-500 replaces brand-blue",
        ".password-input__field--is-invalid:focus-visible { outline: none }",
        "token: spacing-large-desktop",
    ),
    "versions": lambda m: (
        f"pin numpy==1.26.{m.number(0, 9)}, pass --frozen, key features: 3.{m.number(8, 13)} "
        f"and node v20.{m.number(1, 19)}.0"
    ),
    "hardware_pin": lambda m: m.pick(
        f"connect pin {m.number(1, 40)} to ground", f"PIN {m.number(2, 13)} = OUTPUT", "pinMode(LED_PIN, 13)"
    ),
    "key_bindings": lambda m: m.pick(
        '{"key": "ctrl+shift+p", "command": "workbench.action.showCommands"}',
        "key: value\nother_key: other-value-with-dashes\n",
        f"cache_key = f'user:{{user_id}}:v{m.number(1, 9)}'",
        "partition key: tenant_id, sort key: created_at#message_id",
        f"Redis key session:{m.number(1, 10**6)}:cart holds {m.number(1, 30)} items",
        "storageKey: 'bethink.sidebar.collapsed.v2'",
    ),
    "ids": lambda m: m.pick(
        f"cus_{m.some(14)} paid in_{m.some(24)} with pm_{m.some(24)}",
        f"project id {_uuid(m)}, run {m.some(8)}, dataset ds_{m.some(20)}",
        f"AWS account {m.number(10**11, 10**12)}, instance i-0{m.some(16, HEX)}, vpc-{m.some(8, HEX)}",
        f"toolu_{m.some(24)} returned, call_{m.some(24)} did not; chatcmpl-{m.some(29)}",
        f"client_id: {m.some(20, HEX)}.apps.googleusercontent.com",
    ),
    "publishable": lambda m: m.pick(f"pk_live_{m.some(24)}", f"NEXT_PUBLIC_STRIPE_KEY=pk_test_{m.some(24)}"),
    "source_map": lambda m: (
        f"//# sourceMappingURL=data:application/json;base64,{base64.b64encode(m.words(30).encode()).decode()}"
    ),
    "minified_code": lambda m: (
        f"var {m.some(2, LETTERS)}=function(t){{return t.token=t.password?{m.some(1, LETTERS)}(t):null,"
        f"{m.some(3, LETTERS)}.{m.some(5, LETTERS)}(t)}};"
    ),
    "diff": lambda m: (
        f"diff --git a/auth/token.py b/auth/token.py\nindex {m.some(7, HEX)}..{m.some(7, HEX)} 100644\n"
        "-    token = request.token\n+    token = request.headers.get('X-Token')\n"
    ),
    "email_thread": lambda m: (
        f"Message-ID: <{m.some(32)}@mail.acme.test>\nSubject: password reset\nReferences: <{m.some(20, HEX)}@x>"
    ),
}
