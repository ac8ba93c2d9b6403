"""Random values for the redactor's corpus, every one of them from a seed and none of them real."""

import base64
import json
import random
import string

LETTERS = string.ascii_letters
ALNUM = LETTERS + string.digits
UPPER = string.ascii_uppercase + string.digits
URL = ALNUM + "-_"
B64 = ALNUM + "+/"
HEX = "0123456789abcdef"
_WORDS = (
    *("amber", "basil", "cedar", "delta", "ember", "fjord", "grape", "hazel", "ivory", "jolly"),
    *("koala", "lemon", "mango", "noble", "olive", "pearl", "quilt", "raven", "sugar", "tulip"),
    *("umbra", "vivid", "waltz", "xenon", "yacht", "zebra", "anchor", "bridge", "candle", "donkey"),
    *("engine", "forest", "garden", "hammer"),
)


class Maker:
    """Makes random values; every one of them comes from the seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def some(self, length: int, alphabet: str = ALNUM) -> str:
        return "".join(self.random.choice(alphabet) for _ in range(length))

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def words(self, count: int, joiner: str = " ") -> str:
        return joiner.join(self.random.choice(_WORDS) for _ in range(count))

    def password(self) -> str:
        word, other = self.words(1), self.words(1)
        return self.pick(
            f"{word.title()}{self.number(10, 9999)}",
            f"{word}_{other}{self.number(1, 99)}",
            f"{word.title()}{other.title()}{self.pick('!', '?', '#', '$')}",
            f"{self.number(10, 99)}{word}{self.pick('@', '%', '+')}{other}",
            self.some(4) + str(self.number(0, 9)) + self.some(self.number(5, 12), ALNUM + "!#%*+?@^_~"),
        )

    def token(self) -> str:
        return self.some(self.number(28, 48), ALNUM)

    def pem(self, label: str) -> str:
        body = "\n".join(self.some(64, B64) for _ in range(self.number(3, 12)))
        return f"-----BEGIN {label}-----\n{body}\n{self.some(38, B64)}==\n-----END {label}-----"

    def jwt(self) -> str:
        def part(value: object) -> str:
            return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

        head = part({"typ": "JWT", "alg": "RS256", "kid": self.some(12)})
        body = part({"iss": "https://id.example", "aud": self.words(1), "exp": self.number(10**9, 2 * 10**9)})
        return f"{head}.{body}.{self.some(342, URL)}"
