"""Acts that instructions name without a command: "the tests", "commit", "delete", "deploy"."""

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache

from bethink.base.frozen import frozen
from bethink.features.guard.check import CommandPattern
from bethink.features.guard.commands import flags_of, has_flag, is_help, matches_any, positionals, subcommand
from bethink.features.guard.sentences.mentions import pattern_of
from bethink.features.guard.shell import ShellCommand
from bethink.features.guard.tables import word_set


@frozen
class Act:
    """An act: how people name it, and which commands perform it."""

    words: str
    commands: tuple[CommandPattern, ...] = ()
    test: Callable[[ShellCommand], bool] | None = None
    """Tests what a list of commands cannot say."""


def _commands(text: str) -> tuple[CommandPattern, ...]:
    return tuple(pattern_of(line.strip()) for line in text.split(",") if line.strip())


_DRY = ("--dry-run", "--dryrun")


def _is_push(command: ShellCommand) -> bool:
    if command.program != "git" or subcommand(command) != "push":
        return False
    return not has_flag(command, _DRY)


def _is_commit(command: ShellCommand) -> bool:
    if command.program not in ("git", "gk") or subcommand(command) != "commit":
        return False
    return not has_flag(command, _DRY)


def _is_force_push(command: ShellCommand) -> bool:
    if not _is_push(command):
        return False
    forced = has_flag(command, ("--force", "--force-with-lease", "--force-if-includes", "--mirror"))
    return forced or any(word.startswith("+") and len(word) > 1 for word in positionals(command)[1:])


def _is_delete(command: ShellCommand) -> bool:
    program = command.program
    if program in ("rm", "rmdir", "unlink", "shred", "srm", "trash", "trash-put", "rimraf", "del", "rd"):
        return True
    if program == "git":
        first = subcommand(command)
        return first == "rm" or (first == "clean" and not has_flag(command, ("--dry-run",)))
    return program in ("find", "gfind") and "-delete" in command.texts


def _adds_dependency(command: ShellCommand) -> bool:
    words = [word for word in positionals(command) if word]
    manager = _ADDING.get(command.program)
    if manager is None or not words or words[0] not in manager:
        return False
    if "--help" in command.texts:
        return False
    names = words[1:]
    reads_file = any(flag in ("-r", "--requirement", "-e", "--editable", "-c") for flag in command.texts)
    return bool([name for name in names if name not in (".", "..")]) and not reads_file


_ADDING: Mapping[str, frozenset[str]] = {
    "uv": frozenset({"add"}), "poetry": frozenset({"add"}), "pdm": frozenset({"add"}), "rye": frozenset({"add"}),
    "pixi": frozenset({"add"}), "pip": frozenset({"install"}), "pipenv": frozenset({"install"}),
    "npm": frozenset({"install", "i", "add", "in"}), "pnpm": frozenset({"add", "install", "i"}),
    "yarn": frozenset({"add"}), "bun": frozenset({"add", "install", "i"}), "cargo": frozenset({"add"}),
    "go": frozenset({"get"}), "composer": frozenset({"require"}), "gem": frozenset({"install"}),
    "bundle": frozenset({"add"}), "mix": frozenset({"deps.add"}), "conda": frozenset({"install"}),
    "mamba": frozenset({"install"}), "deno": frozenset({"add"}), "apt": frozenset({"install"}),
    "apt-get": frozenset({"install"}), "brew": frozenset({"install"}), "dnf": frozenset({"install"}),
    "dotnet": frozenset({"add"}), "flutter": frozenset({"add"}), "swift": frozenset({"add"}),
}  # fmt: skip


def _is_uv_pip(command: ShellCommand) -> bool:
    words = positionals(command)
    return command.program == "uv" and words[:2] == ["pip", "install"] and len(words) > 2


def _runs_tests(command: ShellCommand) -> bool:
    words = positionals(command)
    flags = command.texts
    if any(
        flag in ("--collect-only", "--co", "--list", "--listTests", "--no-run", "--help", "--version") for flag in flags
    ):
        return False
    program = command.program
    if program in _TESTERS:
        return True
    if program in _SCRIPTED and words:
        names = words[1:] if words[0] in ("run", "run-script") else words
        return (
            bool(names)
            and re.fullmatch(r"(?:test|tests|check|spec|unit|e2e|tst|t)(?:[:_-][\w:-]+)?", names[0]) is not None
        )
    return False


_TESTERS = word_set(
    "pytest py.test unittest nosetests nose2 tox nox jest vitest mocha ava karma tap rspec minitest phpunit pest ctest "
    "playwright cypress cucumber behave robot bats gotestsum busted trial green ward pytest-xdist mamba-test karma"
)
_SCRIPTED = word_set("npm pnpm yarn bun make gmake just task rake mage composer nx turbo deno invoke inv hatch")


def _is_pull_rebase(command: ShellCommand) -> bool:
    return command.program == "git" and subcommand(command) == "pull" and has_flag(command, ("--rebase",))


def _is_remote_branch_deletion(command: ShellCommand) -> bool:
    if not _is_push(command):
        return False
    return has_flag(command, ("--delete",)) or any(word.startswith(":") for word in positionals(command)[1:])


ACTS: Mapping[str, Act] = {
    "force-push": Act(words=r"force[- ]?push\w*|push(?:ing)? (?:with )?--force|push -f|forzar? (?:el )?push|push "
        r"forzado|"
                      r"gewaltsam\w* push\w*", test=_is_force_push),
    "branch "
    "deletion": Act(words=r"delet\w* (?:remote )?branches on the remote|delete remote branches|entfernte branches "
                           r"löschen|remote-branches löschen|borr\w* ramas remotas", test=_is_remote_branch_deletion),
    "amend": Act(words=r"amend\w*", commands=_commands("git commit --amend")),
    "commit": Act(words=r"commit(?:s|ting|ted|te|ten|test|tet)?|committe\w*|einchecken|haz commits?|hagas commits?|"
        r"comitear|"
                  r"commitear", test=_is_commit),
    "push": Act(words=r"push(?:es|ing|ed|st|t)?|pushe\w*|gepusht|hagas push|haz push|hacer push|"
        r"pushear", test=_is_push),
    "tests": Act(words=r"tests?|testen|getestet|test[- ]?suite|pruebas|testsuite|unit tests|specs|testlauf",
                 commands=_commands("go test, cargo test, cargo nextest, dotnet test, mvn test, mvn verify, gradle "
                     "test, "
                                    "gradlew test, gradle check, mix test, swift test, deno test, bazel test, zig "
                                    "test, "
                                    "sbt test, lein test, flutter test, dart test, rails test, python manage.py test, "
                                    "django-admin test, stack test, cabal test, elm-test, hardhat test, forge test"),
                 test=_runs_tests),
    "delete": Act(words=r"delet\w+|remov(?:e|es|ing|al)|lösch\w*|gelöscht|entfern\w*|borr\w+|"
        r"elimin\w+", test=_is_delete),
    "dependency": Act(words=r"dependenc\w+|install(?:s|ing)?|installier\w*|instal(?:ar|es)|packages?|librar(?:y|"
        r"ies)|abhängigkeit\w*|paket\w*|dependencias?|paquetes?|"
                      r"bibliothek\w*|librer[ií]as?", test=lambda c: _adds_dependency(c) or _is_uv_pip(c)),
    "deploy": Act(words=r"deploy\w*|despl(?:iegu|egu|egar|ieg)\w*|ausroll\w*|roll(?:ing)? out|ausliefer\w*",
                  commands=_commands("fly deploy, flyctl deploy, vercel deploy, vercel --prod, netlify deploy, "
                      "kubectl apply, "
                                     "kubectl rollout, kubectl set, helm upgrade, helm install, terraform apply, "
                                     "tofu apply, "
                                     "pulumi up, serverless deploy, sls deploy, cdk deploy, sam deploy, gcloud deploy, "
                                     "firebase deploy, wrangler deploy, wrangler publish, heroku deploy, cap deploy, "
                                     "ansible-playbook, docker stack deploy, eb deploy, npm run deploy, pnpm run "
                                     "deploy, "
                                     "yarn deploy, make deploy, just deploy, railway up, render deploy, kamal deploy, "
                                     "gcloud app deploy, gcloud run deploy")),
    "merge": Act(words=r"merg\w+|fusion\w+|"
        r"zusammenführ\w*", commands=_commands("git merge, gh pr merge, glab mr merge")),
    "rebase": Act(words=r"rebas\w+", commands=_commands("git rebase"), test=_is_pull_rebase),
    "cherry-pick": Act(words=r"cherry[- ]?pick\w*", commands=_commands("git cherry-pick")),
    "development "
    "server": Act(words=r"dev(?:elopment)?[- ]servers?|entwicklungsserver|servidor de desarrollo", commands=_commands(
        "npm run dev, npm start, pnpm dev, pnpm run dev, yarn dev, yarn start, bun run dev, bun dev, vite, next "
        "dev, rails server, "
        "flask run, uvicorn, python manage.py runserver, nuxt dev, astro dev, ng serve, cargo watch, npm run start")),
    "stash": Act(words=r"stash\w*", commands=_commands("git stash")),
    "publish": Act(words=r"publish\w*|releas(?:e|es|ing)|veröffentlich\w*|public(?:a|ar|ues|ación)\b",
                   commands=_commands("npm publish, pnpm publish, yarn publish, bun publish, yarn npm publish, "
                       "cargo publish, "
                                      "twine upload, uv publish, poetry publish, flit publish, hatch publish, gem "
                                      "push, "
                                      "gh release create, goreleaser release, mvn deploy, dotnet nuget push, "
                                      "docker push, "
                                      "vsce publish, lerna publish, changeset publish, npx changeset publish")),
    "pull request": Act(words=r"pull[- ]requests?|prs?|merge[- ]requests?",
                        commands=_commands("gh pr create, glab mr create, hub pull-request")),
    "pull": Act(words=r"pull(?:e|en|ing)?|hagas pull|haz pull", commands=_commands("git pull, git fetch")),
    "tag": Act(words=r"tag(?:s|ging)?|taggen|etiquet\w*", commands=_commands("git tag")),
    "lint": Act(words=r"lint(?:er|ing|s)?|linten", commands=_commands(
        "ruff check, ruff, eslint, flake8, pylint, golangci-lint, cargo clippy, biome lint, biome check, rubocop, "
        "oxlint, "
        "npm run lint, pnpm lint, pnpm run lint, yarn lint, yarn run lint, bun run lint, make lint, just lint, "
        "task lint, "
        "shellcheck, stylelint, standard, xo, pre-commit run")),
    "format": Act(words=r"format(?:ter|ting|s)?|formatier\w*|formatea\w*", commands=_commands(
        "ruff format, black, prettier, gofmt, goimports, cargo fmt, rustfmt, biome format, yapf, autopep8, "
        "clang-format, "
        "go fmt, just fmt, make fmt, make format, just format, npm run format, pnpm format, dprint fmt, mix "
        "format, isort, "
        "terraform fmt, shfmt, dart format, npm run fmt, pnpm run format, yarn format")),
    "type check": Act(words=r"type[- ]?check(?:s|er|ing)?|typprüfung|typen prüfen|comprobación de tipos|"
        r"types?", commands=_commands(
        "mypy, pyright, basedpyright, tsc, pyre, pytype, npm run typecheck, pnpm typecheck, ty check, just types, "
        "make typecheck, just typecheck, npm run type-check, pnpm run typecheck, yarn typecheck, cargo check")),
    "build": Act(words=r"build(?:s|ing)?|bau(?:e|en|t)|kompilier\w*|compil\w+|construy\w*|construir|gebaut|built",
                 commands=_commands("npm run build, pnpm build, pnpm run build, yarn build, yarn run build, bun "
                     "run build, "
                                    "cargo build, go build, make build, just build, make, mvn package, mvn install, "
                                    "gradle build, gradlew build, docker build, tsc, cmake --build, dotnet build, "
                                    "vite build, "
                                    "next build, ninja, bazel build, swift build, zig build, mix compile, uv "
                                    "build, poetry build")),
    "migration": Act(words=r"migrat\w+|migrier\w*|migrac\w*", commands=_commands(
        "alembic upgrade, rails db:migrate, prisma migrate, knex migrate:latest, flyway migrate, python manage.py "
        "migrate, "
        "liquibase update, typeorm migration:run, diesel migration run, sqlx migrate run, dbmate up, goose up")),
}  # fmt: skip


@cache
def act_words(name: str) -> "re.Pattern[str]":
    """Return the pattern of the words that name an act."""
    return re.compile(rf"(?<![\w-])(?:{ACTS[name].words})(?![\w-])", re.IGNORECASE)


@lru_cache(maxsize=2048)
def find_acts(text: str) -> tuple[tuple[str, int], ...]:
    """Return the acts that a text names, with the position behind each, in order."""
    matches = [(match.start(), match.end(), name) for name in ACTS for match in act_words(name).finditer(text)]
    return tuple((name, end) for _, end, name in sorted(matches, key=lambda item: item[0]))


def performs(name: str, command: ShellCommand) -> bool:
    """Return True if a command performs an act. `command:X` is the act of running the command X."""
    if is_help(command):
        return False
    if name.startswith("command:"):
        return matches_any((pattern_of(name.removeprefix("command:")),), command) is not None
    act = ACTS.get(name)
    if act is None:
        return False
    if act.test is not None and act.test(command):
        return True
    pattern = matches_any(act.commands, command)
    return pattern is not None and not (set(_DRY) & set(flags_of(command)))
