/**
 * A coding agent that writes a sort and tests it. Its files and commands are in a sandbox of the operating system:
 * they see their workspace and the programs of this machine, and reach neither the rest of it nor the network.
 *
 * With a real model: MODEL=anthropic:claude-sonnet-4-6 npx tsx --conditions=source examples/coding-agent.ts
 */
import { createSandbox } from "@deepwright/sandboxes";
import { osSandbox } from "@deepwright/sandboxes/os";
import { createDeepAgent } from "deepwright";
import { callTool } from "deepwright/testing";
import { modelOrScript } from "./support/model.ts";

const SORT = `def sort(values):
    if len(values) < 2:
        return values
    middle = len(values) // 2
    left, right = sort(values[:middle]), sort(values[middle:])
    merged = []
    while left and right:
        merged.append((left if left[0] < right[0] else right).pop(0))
    return merged
`;
const TEST = `import random
import unittest
from sort import sort


class SortTest(unittest.TestCase):
    def test_any_list(self):
        for length in range(50):
            values = [random.randrange(10) for _ in range(length)]
            self.assertEqual(sort(values), sorted(values))


unittest.main()
`;
const run = callTool("execute", { command: "python3 test_sort.py 2>&1 | tail -n 1" });

await using sandbox = createSandbox({ provider: osSandbox({ limits: { memoryMb: 512 } }) });
const agent = createDeepAgent({
  model: modelOrScript([
    callTool("write_file", { file_path: "/workspace/sort.py", content: SORT }),
    callTool("write_file", { file_path: "/workspace/test_sort.py", content: TEST }),
    run,
    callTool("edit_file", {
      file_path: "/workspace/sort.py",
      old_string: "return merged\n",
      new_string: "return merged + left + right\n",
    }),
    run,
    "The merge sort is in /workspace/sort.py, and its test passes.",
  ]),
  systemPrompt:
    "You are a Python programmer with a sandbox. Write code to files, test it, and mend what fails.",
  backend: sandbox,
});

const { messages } = await agent.invoke(
  { messages: [{ role: "user", content: "Write a sorting algorithm and test it." }] },
  { configurable: { thread_id: "sort-1" } },
);
for (const message of messages)
  if (message.type === "tool" && message.name === "execute")
    console.log(`test: ${message.text.split("\n")[0]}`);
console.log(messages.at(-1)?.text);
await sandbox.close({ keep: false });
