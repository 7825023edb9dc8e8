# codex exec, two turns; Responses. Words: the model, tokens from which on Codex compacts by itself (or nothing), and
# what turns.sh takes.
set -e
mkdir -p ~/.codex
cat > ~/.codex/config.toml <<TOML
model = "$1"
model_provider = "local"
model_reasoning_effort = "medium"
model_reasoning_summary = "auto"
check_for_update_on_startup = false
${2:+model_auto_compact_token_limit = $2}
[model_providers.local]
name = "local"
base_url = "http://127.0.0.1:4000/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
TOML
first() { codex exec --dangerously-bypass-approvals-and-sandbox "$1"; }
second() { codex exec --dangerously-bypass-approvals-and-sandbox resume --last "$1"; }
# shellcheck source=/dev/null
source ~/clients/turns.sh "$3"
