"""Programs that instructions name, their families, and words that are programs only in the right context."""

from collections.abc import Mapping

from bethink.features.guard.tables import word_set

CLEAR = word_set("""
    ktlint detekt swiftlint swiftformat gofumpt goimports checkstyle pint phpcs phpstan psalm ktfmt scalafmt stylua
    luacheck buf tflint tfsec sqlfmt djlint pyupgrade bandit vulture mdformat
    flask uvicorn gunicorn celery hugo jekyll rclone sd delta hyperfine nextest pdm
    pip pip3 uv uvx poetry pipenv pdm conda mamba hatch rye pipx npm pnpm yarn bun npx bunx deno nvm volta nodejs tsc
    cargo rustc rustup clippy gofmt golangci-lint gradle mvn maven sbt bazel cmake ninja meson gcc g++ clang docker
    docker-compose podman podman-compose buildah kubectl helm terraform tofu opentofu terragrunt pulumi ansible
    ansible-playbook
    vagrant minikube kind k9s flyctl fly vercel netlify heroku wrangler gcloud aws az doctl gsutil s3cmd
    git gh glab hub gk jj hg svn lazygit grep egrep fgrep rg ripgrep ag ack fd fdfind sed awk gawk perl jq yq curl wget
    httpie xh aria2c rsync scp sftp ssh telnet nc ncat nmap sudo doas su chmod chown chgrp rm rmdir unlink shred srm
    trash trash-put rmtrash mv cp ln dd mkfs fdisk kill killall pkill systemctl service launchctl crontab apt apt-get
    aptitude dpkg yum dnf pacman zypper apk brew port snap flatpak choco winget scoop psql mysql mariadb sqlite3 sqlite
    mongosh mongo redis-cli pg_dump pg_restore pytest unittest nose nosetests tox nox jest vitest mocha ava karma
    playwright cypress rspec minitest phpunit ctest ruff flake8 pylint pycodestyle isort autopep8 yapf mypy pyright
    pytype eslint tslint prettier biome stylelint dprint oxlint rubocop standardrb shellcheck shfmt hadolint
    golint staticcheck rustfmt clang-format clang-tidy pre-commit husky lefthook webpack rollup vite esbuild parcel tsup
    swc babel turbo lerna composer artisan rails rake gem rbenv pyenv asdf mise direnv nix nix-shell
    virtualenv venv ipython jupyter nano vim nvim emacs sh bash zsh tmux screen npm-check ncu bower gulp grunt
    twine flit setuptools gpg openssl certbot ffmpeg imagemagick convert tar zip unzip gzip nohup xargs exa eza lsd bat
    ls tree htop sqlfluff alembic flyway liquibase prisma knex typeorm sequelize drizzle-kit dbt
    markdownlint vale codespell cspell typos black make just find go node python python3 ruby php java swift
    """)
"""Names of programs."""

COMMON = word_set("""
    make just find go black service fly convert port screen tree host node trash kind task bat hub tar zip time watch
    test cat head tail sort cut join kill at fish bundle echo touch less more install standard parcel composer
    python ruby java swift php perl bash snap nose turbo flow ant who as gem
    """)
"""Names that are also words of prose or of languages: programs only right behind a verb such as "use"."""

SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "git": word_set(
        "add am apply bisect blame branch checkout cherry-pick clean clone commit config fetch filter-branch gc "
        "grep init "
        "log merge mv pull push rebase reflog reset restore revert rm show stash submodule switch tag worktree lfs"
    ),
    "gk": frozenset({"commit"}),
    "gh": word_set("pr issue release repo workflow run"),
    "docker": word_set("image container compose build run exec push pull system volume swarm stack ps rm rmi prune"),
    "npm": word_set("ci install i publish update audit link run exec test start uninstall add"),
    "pnpm": word_set("install add publish update run exec dlx test"),
    "yarn": word_set("install add publish upgrade run dlx"),
    "bun": word_set("install add test run"),
    "cargo": word_set("build test fmt clippy publish run update add install check bench nextest"),
    "go": word_set("build test install vet get mod run generate fmt"),
    "uv": word_set("add sync run pip lock publish tool remove"),
    "poetry": word_set("add install lock publish run update"),
    "pip": word_set("install freeze uninstall"),
    "ruff": frozenset({"format", "check"}),
    "biome": frozenset({"format", "check", "lint"}),
    "terraform": word_set("apply plan destroy import init state taint"),
    "tofu": word_set("apply plan destroy import init"),
    "pulumi": word_set("up destroy preview"),
    "kubectl": word_set("apply delete exec edit patch scale get rollout port-forward"),
    "helm": word_set("upgrade install uninstall rollback"),
    "make": word_set("test build install lint clean deploy"),
    "just": word_set("test build install lint clean deploy fmt check"),
    "conda": word_set("install create"),
    "brew": word_set("install upgrade"),
    "apt-get": word_set("install remove upgrade"),
    "apt": word_set("install remove upgrade"),
    "rails": word_set("db:migrate db:reset db:drop generate"),
    "dotnet": word_set("build test run publish ef"),
    "systemctl": word_set("restart stop start"),
    "aws": word_set("s3 ec2 iam"),
}
"""Words that belong to a program when they follow its name in prose."""

SAME: Mapping[str, str] = {
    "ripgrep": "rg",
    "pip3": "pip",
    "python3": "python",
    "nodejs": "node",
    "httpie": "http",
    "maven": "mvn",
    "trash-put": "trash",
    "opentofu": "tofu",
    "fdfind": "fd",
    "sqlite": "sqlite3",
    "clippy": "cargo clippy",
    "imagemagick": "convert",
    "flyctl": "fly",
}
"""Other names of a program."""

PACKAGE_MANAGERS = (("npm", "pnpm", "yarn", "bun"),)
FORMATTERS = (("black", "autopep8", "yapf"), ("prettier", "biome"))
TEST_RUNNERS = (("pytest", "unittest", "nosetests", "nose"), ("jest", "vitest", "mocha", "ava"))
EXCLUSIVE = (*PACKAGE_MANAGERS, *FORMATTERS, *TEST_RUNNERS)
"""Groups of which a project uses one: "use pnpm" excludes the others."""

_SECOND: Mapping[tuple[str, str], str] = {
    ("docker", "system"): "prune df info events",
    ("docker", "image"): "prune rm build push pull ls",
    ("docker", "volume"): "prune rm create ls",
    ("docker", "compose"): "up down build run exec restart stop start logs pull push rm",
    ("docker", "container"): "prune rm stop kill run exec",
    ("npm", "audit"): "fix",
    ("pnpm", "audit"): "fix",
    ("gh", "pr"): "create merge close review edit checkout",
    ("gh", "issue"): "create close edit comment delete",
    ("gh", "release"): "create delete edit upload",
    ("gh", "repo"): "create delete clone fork edit",
    ("git", "stash"): "pop drop clear apply push",
    ("git", "remote"): "add remove set-url",
    ("git", "submodule"): "update add deinit",
    ("git", "worktree"): "add remove prune",
    ("git", "config"): "set unset",
    ("git", "branch"): "delete",
    ("go", "mod"): "tidy vendor download",
    ("terraform", "state"): "rm mv push",
    ("kubectl", "rollout"): "restart undo",
    ("poetry", "cache"): "clear",
    ("uv", "pip"): "install uninstall sync compile",
    ("uv", "tool"): "install run upgrade",
    ("aws", "s3"): "rm cp sync mv",
    ("cargo", "nextest"): "run",
}
SECOND: Mapping[tuple[str, str], frozenset[str]] = {key: word_set(text) for key, text in _SECOND.items()}
"""Words that belong to a program and its subcommand when they follow them in prose."""

FOLLOWING = word_set(
    """
    for in on at to with without here ever again anymore any and or anything everywhere from as by if when unless until
    because since only just directly yourself instead over than commands command please now is are was be not never
    verwenden benutzen nehmen nutzen laufen lassen ausführen aufrufen mehr bitte für im auf mit zu und oder nie hier
    ist sind
    para en por y o con de siempre nunca más aquí está
    """
)
"""Words behind a program's name that are prose, and no subcommand of it."""
