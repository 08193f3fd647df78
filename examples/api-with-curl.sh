#!/usr/bin/env bash
# A walk through the API of a server, with curl and jq: an assistant, a thread, a run whose stream is cut and resumed, an
# approval, files, the store, a cron. docs/api.md has every route.
#
# It starts a server with the offline model, in an empty directory. With one of yours, whose agent asks before it writes:
#   SERVER_URL=http://127.0.0.1:2024 SERVER_TOKEN=… AGENT=agent examples/api-with-curl.sh
set -euo pipefail

clone=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
server=

finish() {
  if [ -n "$server" ]; then
    kill "$server" && wait "$server" || true
  fi
  rm -rf "$work"
}
trap finish EXIT

start_server() {
  mkdir "$work/project"
  echo "# Notes" >"$work/project/notes.md"
  cd "$work/project"
  DEEPWRIGHT_HOME="$work/home" node --import "$clone/node_modules/tsx/dist/loader.mjs" --conditions=source \
    "$clone/packages/cli/src/main.ts" serve --model offline --port 0 2>"$work/log" &
  server=$!
  until grep -q "^Listening on " "$work/log"; do
    kill -0 "$server" || { cat "$work/log" >&2; exit 1; }
    sleep 0.1
  done
  SERVER_URL=$(sed -n 's/^Listening on //p' "$work/log")
  SERVER_TOKEN=$(cat "$work/home/server-token")
}

[ -n "${SERVER_URL:-}" ] || start_server
agent=${AGENT:-agent}

# Every request needs the token, and bodies are JSON.
call() {
  curl -sS --fail-with-body -H "Authorization: Bearer $SERVER_TOKEN" -H "Content-Type: application/json" "$@"
}

echo "== Without a token nothing is answered"
curl -sS "$SERVER_URL/ok" | jq -c .
call "$SERVER_URL/ok" | jq -c .

echo "== An assistant: an agent of the server with settings of its own"
assistant=$(call "$SERVER_URL/assistants" -d "{\"graph_id\": \"$agent\", \"name\": \"Writer\"}" | jq -r .assistant_id)
call "$SERVER_URL/assistants/$assistant" | jq -c '{name, graph_id, version}'

echo "== A thread, and a run on it; the connection is cut at the third event"
thread=$(call "$SERVER_URL/threads" -d '{"metadata": {"topic": "walk"}}' | jq -r .thread_id)
cat >"$work/run.json" <<JSON
{
  "assistant_id": "$assistant",
  "input": {"messages": [{"role": "user", "content": "Summarise this project in report.md"}]},
  "stream_mode": ["updates"]
}
JSON
# With the key the request may be sent again: it is answered with the same run, not with a second one.
call -N -D "$work/headers" -H "Idempotency-Key: $thread" "$SERVER_URL/threads/$thread/runs/stream" \
  -d "@$work/run.json" 2>/dev/null | sed '/^id: 3/q' | grep '^id: ' || true

echo "== The run went on; its stream is resumed behind that event, where Location says"
stream=$(sed -n 's/^location: \([^[:cntrl:]]*\).*/\1/ip' "$work/headers")
call -N -H "Last-Event-ID: 3" "$SERVER_URL$stream" >"$work/events"
grep '^id: ' "$work/events" | head -n 1
grep -A 1 '^event: end' "$work/events" | sed -n 's/^data: //p' | jq -c '{status}'

echo "== It waits for an approval, which is given by the id of the question"
call "$SERVER_URL/threads/$thread/interrupts" >"$work/interrupts"
jq -c '.[0].value.actionRequests[0] | {name, file: .args.file_path}' "$work/interrupts"
question=$(jq -r '.[0].id' "$work/interrupts")
run=$(call "$SERVER_URL/threads/$thread/interrupts/$question" -d '{"value": {"decisions": [{"type": "approve"}]}}' | jq -r .run_id)
call "$SERVER_URL/threads/$thread/runs/$run/join" | jq -c '.messages[-1] | {type, words: (.content | length > 0)}'
call "$SERVER_URL/threads/$thread" | jq -c '{status, metadata: {topic: .metadata.topic}}'

echo "== A second answer to the same question is refused"
call "$SERVER_URL/threads/$thread/interrupts/$question" -d '{"value": {}}' 2>/dev/null | jq -c '{code}' || true

echo "== What was there at each step, the newest first"
call "$SERVER_URL/threads/$thread/history" -d '{"limit": 3}' | jq -c '.[] | {next, messages: (.values.messages | length > 0)}'

echo "== Files: what changed since the first step, and one put into the state of the thread"
first=$(call "$SERVER_URL/threads/$thread/history" -d '{"limit": 1000}' | jq -r '.[-1].checkpoint.checkpoint_id')
call "$SERVER_URL/threads/$thread/files/diff?from=$first" | jq -c '.changes | map({path, kind})'
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
call "$SERVER_URL/threads/$thread/state" >/dev/null \
  -d "{\"values\": {\"files\": {\"/brief.md\": {\"content\": \"Be brief.\", \"created_at\": \"$now\", \"modified_at\": \"$now\"}}}}"
call "$SERVER_URL/threads/$thread/files" | jq -c '.files | map({path, size})'
call "$SERVER_URL/threads/$thread/files/content?path=/brief.md" && echo

echo "== A run that is not wanted any more is cancelled"
run=$(call "$SERVER_URL/threads/$thread/runs" -d "{\"assistant_id\": \"$assistant\", \"input\": {\"messages\": \"Again\"}, \"after_seconds\": 3600}" | jq -r .run_id)
call -X POST "$SERVER_URL/threads/$thread/runs/$run/cancel?wait=true"
call "$SERVER_URL/threads/$thread/runs?limit=1" | jq -c '.[0] | {status}'

echo "== The store: what outlives threads"
call -X PUT "$SERVER_URL/store/items" -d '{"namespace": ["walk", "notes"], "key": "first", "value": {"text": "kept"}}'
call "$SERVER_URL/store/items?namespace=walk.notes&key=first" | jq -c .value

echo "== A cron: a run every six hours, each on a thread of its own"
cron=$(call "$SERVER_URL/runs/crons" -d "{\"assistant_id\": \"$assistant\", \"schedule\": \"0 */6 * * *\", \"input\": {\"messages\": \"Summarise what is new\"}}" | jq -r .cron_id)
call "$SERVER_URL/runs/crons/search" -d '{}' | jq -c 'map({schedule, enabled, due: (.next_run_date != null)})'
call -X DELETE "$SERVER_URL/runs/crons/$cron"

echo "== Everything goes"
call -X DELETE "$SERVER_URL/threads/$thread"
call -X DELETE "$SERVER_URL/assistants/$assistant"
call "$SERVER_URL/threads/$thread" 2>/dev/null | jq -c '{code}' || true
