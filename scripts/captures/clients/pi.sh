# pi -p, two turns. Words: provider, model, and what turns.sh takes, or `rpc` for pi_rpc.py.
set -e
mkdir -p ~/.pi/agent
cat > ~/.pi/agent/models.json <<'JSON'
{
  "providers": {
    "local-anthropic": {
      "baseUrl": "http://127.0.0.1:4000", "api": "anthropic-messages", "apiKey": "sk-not-a-key",
      "models": [{"id": "claude-opus-5-5", "reasoning": true, "input": ["text", "image"], "contextWindow": 400000, "maxTokens": 32000, "cost": {"input": 4, "output": 20, "cacheRead": 0.2, "cacheWrite": 5}}]
    },
    "local-responses": {
      "baseUrl": "http://127.0.0.1:4000/v1", "api": "openai-responses", "apiKey": "sk-not-a-key",
      "models": [{"id": "gpt-6.1-sol", "reasoning": true, "input": ["text", "image"], "contextWindow": 400000, "maxTokens": 32000, "cost": {"input": 2, "output": 10, "cacheRead": 0.1, "cacheWrite": 0}}]
    },
    "local-chat": {
      "baseUrl": "http://127.0.0.1:4000/v1", "api": "openai-completions", "apiKey": "sk-not-a-key",
      "models": [{"id": "gpt-5.4", "reasoning": false, "input": ["text", "image"], "contextWindow": 400000, "maxTokens": 32000, "cost": {"input": 2, "output": 10, "cacheRead": 0.1, "cacheWrite": 0}}]
    }
  }
}
JSON
export PI_OFFLINE=1 PI_SKIP_VERSION_CHECK=1
PROVIDER=$1 MODEL=$2
if [ "$3" = rpc ]; then
    exec python ~/clients/pi_rpc.py "$PROVIDER" "$MODEL"
fi
first() { pi --provider "$PROVIDER" --model "$MODEL" -p "$1"; }
second() { pi --provider "$PROVIDER" --model "$MODEL" --continue -p "$1"; }
# shellcheck source=/dev/null
source ~/clients/turns.sh "$3"
