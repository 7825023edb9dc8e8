# claude -p, two turns; see turns.sh for the word.
set -e
export IS_SANDBOX=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 DISABLE_AUTOUPDATER=1 DISABLE_TELEMETRY=1
first() { claude --dangerously-skip-permissions --model claude-opus-5-5 -p "$1"; }
second() { claude --dangerously-skip-permissions --model claude-opus-5-5 --continue -p "$1"; }
# shellcheck source=/dev/null
source ~/clients/turns.sh "$1"
