"""Deepwright as an installed agent of Harbor.

    harbor run --agent-import-path deepwright_agent:DeepwrightAgent --model anthropic/claude-sonnet-4-6 ...
"""

import json
import os
import shlex
from pathlib import Path
from typing import Any

from harbor.agents.installed.base import BaseInstalledAgent
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext

# Harbor mounts this directory of the environment at the logs of the trial.
LOGS = "/logs/agent"
EVENTS = "events.jsonl"
THREAD = "thread.jsonl"

# Variables of the person that a run may need. The values go into the environment of the command alone.
PASSED_ON = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "GOOGLE_API_KEY",
    "DEEPWRIGHT_BASE_URL",
)

# Node is installed where it is missing or older than 20.19.
INSTALL = r"""
set -eu
node_is_new() { node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null; }
if ! node_is_new; then
  if command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq curl ca-certificates >/dev/null
    curl -fsSL https://deb.nodesource.com/setup_22.x | bash - >/dev/null
    apt-get install -y -qq nodejs >/dev/null
  elif command -v apk >/dev/null; then
    apk add --no-cache nodejs npm >/dev/null
  fi
fi
node_is_new || { echo "Node 20.19 or newer is needed" >&2; exit 1; }
command -v deepwright >/dev/null || npm install -g --silent "$DEEPWRIGHT_PACKAGE"
deepwright --version
"""


class DeepwrightAgent(BaseInstalledAgent):
    """Runs `deepwright run --json` on the task, and brings back its events and the exported thread.

    `package` is what npm installs in the environment. `max_seconds`, `max_cost` and `max_steps` limit a run.
    """

    def __init__(
        self,
        *args: Any,
        package: str = "@deepwright/cli",
        max_seconds: float | None = None,
        max_cost: float | None = None,
        max_steps: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._package = package
        self._limits = {"--max-seconds": max_seconds, "--max-cost": max_cost, "--max-steps": max_steps}

    @staticmethod
    def name() -> str:
        return "deepwright"

    def version(self) -> str | None:
        return getattr(self, "_version", None)

    async def setup(self, environment: BaseEnvironment) -> None:
        await self.install(environment)

    async def install(self, environment: BaseEnvironment) -> None:
        result = await environment.exec(command=INSTALL, env={"DEEPWRIGHT_PACKAGE": self._package})
        if result.return_code != 0:
            raise RuntimeError(f"Deepwright could not be installed: {result.stderr or result.stdout}")
        lines = (result.stdout or "").strip().splitlines()
        self._version = lines[-1] if lines else None

    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        """The environment is the sandbox, so every call is approved. The events stay, also when the time is up."""
        env = {
            **{name: os.environ[name] for name in PASSED_ON if os.environ.get(name)},
            "DEEPWRIGHT_HOME": f"{LOGS}/home",
            "DEEPWRIGHT_TASK": instruction,
        }
        try:
            await environment.exec(command=self.run_command(), env=env)
        finally:
            await environment.exec(command=export_command(), env={"DEEPWRIGHT_HOME": f"{LOGS}/home"})
            self.populate_context_post_run(context)

    def run_command(self) -> str:
        words = ["deepwright", "run", "-", "--json", "--yes", "--sandbox", "none", "--no-mcp"]
        if self.model_name:
            words += ["--model", self.model_name.replace("/", ":", 1)]
        for flag, value in self._limits.items():
            words += [] if value is None else [flag, str(value)]
        # The task goes through a pipe: words of a task are no words of a shell.
        return (
            f"mkdir -p {LOGS} && printf '%s' \"$DEEPWRIGHT_TASK\" | {shlex.join(words)}"
            f" > {LOGS}/{EVENTS} 2> {LOGS}/stderr.txt"
        )

    def populate_context_post_run(self, context: AgentContext) -> None:
        end = last_end(Path(self.logs_dir) / EVENTS)
        usage = end.get("usage") or {}
        context.n_input_tokens = usage.get("input")
        context.n_output_tokens = usage.get("output")
        context.metadata = {
            "thread": THREAD if (Path(self.logs_dir) / THREAD).exists() else None,
            "thread_id": end.get("threadId"),
            "end": end.get("end"),
            "outcome": end.get("outcome"),
            "exit_code": end.get("exitCode"),
            "tool_calls": end.get("toolCalls"),
        }


def export_command() -> str:
    """The newest thread of the run, also where the run was killed before it named it."""
    newest = "deepwright threads list --json | node -e " + shlex.quote(
        'let t="";process.stdin.on("data",(d)=>t+=d).on("end",()=>console.log(JSON.parse(t).threads[0].threadId))'
    )
    return f'id=$({newest}) && deepwright threads export "$id" --force {LOGS}/{THREAD}'


def last_end(events: Path) -> dict[str, Any]:
    """The data of the `run-end` event; empty where the run was killed before it."""
    if not events.exists():
        return {}
    for line in reversed(events.read_text(encoding="utf-8", errors="replace").splitlines()):
        try:
            data = json.loads(line).get("data")
        except (ValueError, AttributeError):
            continue
        if isinstance(data, dict) and data.get("type") == "run-end":
            return data
    return {}
