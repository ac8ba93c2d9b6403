# Tasks. `just` lists them; each is a few plain commands that can be copied.

_list:
    @just --list

# Install the development packages into .venv
setup:
    python3 -m venv .venv
    .venv/bin/python -m pip install --quiet uv
    VIRTUAL_ENV=.venv .venv/bin/uv pip install --require-hashes -r requirements-dev.txt
    VIRTUAL_ENV=.venv .venv/bin/uv pip install --no-deps -e . -e packages/bethink-shards -e packages/bethink-temporal packages/bethink-model-multilingual

# Format, lint, types, imports, sizes, generated files
check:
    .venv/bin/ruff format --check .
    .venv/bin/ruff check .
    .venv/bin/pyright
    .venv/bin/lint-imports
    .venv/bin/python -m tools.check_sizes
    for tool in api sync cli_docs settings_docs api_docs openapi typescript stop_words forms; do .venv/bin/python -m tools.make_$tool --check || exit 1; done

# Run tests: all, or those in PATH
test *PATH:
    .venv/bin/pytest -m "not slow" {{PATH}}

# Write all generated files again
generate:
    for tool in api sync cli_docs settings_docs api_docs openapi typescript stop_words forms; do .venv/bin/python -m tools.make_$tool || exit 1; done

# Everything that must hold on main, from an empty machine
ci *FLAGS:
    bash .ci/run {{FLAGS}}

# Pin the development packages again
lock:
    uv pip compile --universal -p 3.11 --generate-hashes --group dev --extra postgres --extra tokens --extra openai --extra anthropic --extra pydantic-ai --extra local --extra onnx --extra server --extra mcp --extra receipts --extra codex --extra web --extra pdf --extra html --no-emit-package bethink --no-emit-package bethink-model-multilingual pyproject.toml packages/bethink-shards/pyproject.toml packages/bethink-temporal/pyproject.toml -o requirements-dev.txt
    uv pip compile --universal -p 3.11 --generate-hashes --extra postgres --extra anthropic --extra openai-agents --extra langgraph --extra claude-agent-sdk --extra pydantic-ai-harness --extra google-adk --extra llama-index --extra agent-framework pyproject.toml tests/integrations/requirements.in -o tests/integrations/requirements.txt
    uv pip compile --universal -p 3.11 --generate-hashes --extra postgres --extra server --extra web --extra mcp --extra receipts --extra openai --extra anthropic --extra pdf --extra html -c requirements-dev.txt pyproject.toml -o deploy/requirements.txt
    echo hatchling | uv pip compile --universal -p 3.11 --generate-hashes - -o deploy/requirements-build.txt

# Build, run and replace the real image (as root; apt-get install buildah mmdebstrap)
image folder="/tmp/bethink-image":
    BETHINK_TEST_IMAGE={{folder}} pytest tests/acceptance/test_image.py
