# opencode run, two turns. Words: provider and model, and what turns.sh takes.
set -e
export OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_AUTOUPDATE=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1
mkdir -p ~/.config/opencode
cat > ~/.config/opencode/opencode.json <<'JSON'
{
  "autoupdate": false,
  "share": "disabled",
  "permission": "allow",
  "provider": {
    "openai-compatible": {
      "npm": "@ai-sdk/openai-compatible",
      "options": {"baseURL": "http://127.0.0.1:4000/v1", "apiKey": "sk-not-a-key"},
      "models": {"gpt-4.1": {"attachment": true, "tool_call": true, "reasoning": false, "limit": {"context": 400000, "output": 32000}, "modalities": {"input": ["text", "image"], "output": ["text"]}}}
    },
    "anthropic": {
      "options": {"baseURL": "http://127.0.0.1:4000/v1"},
      "models": {"claude-opus-5-5": {"attachment": true, "tool_call": true, "reasoning": true, "limit": {"context": 400000, "output": 32000}, "modalities": {"input": ["text", "image"], "output": ["text"]}}}
    },
    "openai": {
      "options": {"baseURL": "http://127.0.0.1:4000/v1"},
      "models": {"gpt-6.1-sol": {"attachment": true, "tool_call": true, "reasoning": true, "limit": {"context": 400000, "output": 32000}, "modalities": {"input": ["text", "image"], "output": ["text"]}}}
    }
  }
}
JSON
MODEL=$1
first() { opencode run --model "$MODEL" "$1"; }
second() { opencode run --model "$MODEL" --continue "$1"; }
# shellcheck source=/dev/null
source ~/clients/turns.sh "$2"
opencode export "$(opencode session list --format json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["id"])')" > ~/recording.json
