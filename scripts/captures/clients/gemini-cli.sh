# gemini -p, two turns; see turns.sh for the word. The second turn is a day later. Behind tools the scripted model refuses
# it.
set -e
mkdir -p ~/.gemini
cat > ~/.gemini/settings.json <<'JSON'
{
  "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": false}},
  "general": {"disableAutoUpdate": true, "disableUpdateNag": true},
  "privacy": {"usageStatisticsEnabled": false},
  "telemetry": {"enabled": false},
  "tools": {"useRipgrep": false}
}
JSON
first() { gemini --yolo --model gemini-3.1-pro -p "$1"; }
second() {
    NODE_OPTIONS="--require=$HOME/clients/tomorrow.cjs" \
        gemini --yolo --model gemini-3.1-pro --resume latest -p "$1" || true
}
# shellcheck source=/dev/null
source ~/clients/turns.sh "$1"
