"""The adapter against an environment that runs its commands on this machine, with a `deepwright` in PATH."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path


class FakeAgent:
    def __init__(self, logs_dir, model_name=None):
        self.logs_dir = logs_dir
        self.model_name = model_name


def stub(name, **members):
    module = types.ModuleType(name)
    module.__dict__.update(members)
    sys.modules[name] = module


for package in ("harbor", "harbor.agents", "harbor.agents.installed", "harbor.environments", "harbor.models", "harbor.models.agent"):
    stub(package)
stub("harbor.agents.installed.base", BaseInstalledAgent=FakeAgent)
stub("harbor.environments.base", BaseEnvironment=object)
stub("harbor.models.agent.context", AgentContext=types.SimpleNamespace)

import deepwright_agent  # noqa: E402
from deepwright_agent import DeepwrightAgent  # noqa: E402


class LocalEnvironment:
    """Runs commands in a directory, with the variables it is given and no others but PATH."""

    def __init__(self, work, kill_run=False):
        self.work, self.kill_run, self.commands = work, kill_run, []

    async def exec(self, command, env=None, **_):
        self.commands.append(command)
        variables = {"PATH": os.environ["PATH"], "HOME": str(self.work), "OLLAMA_HOST": "127.0.0.1:1", **(env or {})}
        done = subprocess.run(["bash", "-c", command], cwd=self.work, env=variables, capture_output=True, text=True)
        if self.kill_run and " run " in command:
            raise TimeoutError("the time of the task is up")
        return types.SimpleNamespace(stdout=done.stdout, stderr=done.stderr, return_code=done.returncode)


class Adapter(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        base = Path(self.directory.name)
        self.logs, self.work = base / "logs", base / "work"
        self.work.mkdir()
        (self.work / "README.md").write_text("# A project\n")
        deepwright_agent.LOGS = str(self.logs)

    def trial(self, task, **options):
        environment = LocalEnvironment(self.work, **options)
        agent = DeepwrightAgent(logs_dir=self.logs, model_name="offline", max_steps=50)
        context = types.SimpleNamespace()

        async def run():
            await agent.setup(environment)
            await agent.run(task, environment, context)

        return agent, environment, context, run

    def test_a_task_runs_and_its_thread_comes_back(self):
        task = "Summarise this project in report.md; it's \"quoted\" $(touch injected) `touch injected`"
        agent, _, context, run = self.trial(task)
        asyncio.run(run())
        self.assertRegex(agent.version(), r"^\d+\.\d+\.\d+")
        self.assertTrue((self.work / "report.md").exists())
        self.assertFalse((self.work / "injected").exists())
        self.assertEqual(context.metadata["exit_code"], 0)
        self.assertEqual(context.metadata["outcome"]["kind"], "done")
        thread = (self.logs / "thread.jsonl").read_text()
        self.assertIn("touch injected", thread)
        for line in thread.splitlines():
            json.loads(line)

    def test_a_task_whose_time_is_up_leaves_its_events_and_thread(self):
        _, _, context, run = self.trial("Summarise this project in report.md", kill_run=True)
        with self.assertRaises(TimeoutError):
            asyncio.run(run())
        self.assertTrue((self.logs / "thread.jsonl").exists())
        self.assertEqual(context.metadata["thread"], "thread.jsonl")

    def test_a_model_is_named_as_deepwright_names_it(self):
        agent = DeepwrightAgent(logs_dir=self.logs, model_name="openrouter/z/model", max_cost=2.5)
        self.assertIn("--model openrouter:z/model --max-cost 2.5", agent.run_command())

    def test_events_that_are_cut_off_are_no_error(self):
        self.logs.mkdir()
        (self.logs / "events.jsonl").write_text('{"type":"custom","data":{"type":"run-start"}}\n{"type":"cus')
        self.assertEqual(deepwright_agent.last_end(self.logs / "events.jsonl"), {})


if __name__ == "__main__":
    unittest.main()
