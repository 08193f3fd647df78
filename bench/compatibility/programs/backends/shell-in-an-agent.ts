/** An agent with a shell: commands and file tools see the same files. */
import { createDeepAgent, LocalShellBackend } from "library";
import { outline, results } from "../../kit/look.ts";
import { scratch } from "../../kit/scratch.ts";
import { call, scripted } from "../../kit/scripted-model.ts";

export default async function program() {
  const backend = await LocalShellBackend.create({
    rootDir: scratch("shell-agent"),
    virtualMode: true,
    inheritEnv: true,
  });
  const model = scripted([
    call("write_file", { file_path: "/script.sh", content: "echo from the script\n" }),
    call("execute", { command: "sh script.sh" }),
    call("execute", { command: "printf made > made.txt; pwd >/dev/null" }),
    call("read_file", { file_path: "/made.txt" }),
    call("execute", { command: "echo wrong >&2; exit 7" }),
    "done",
  ]);
  const { messages } = await createDeepAgent({ model, backend }).invoke({
    messages: [{ role: "user", content: "go" }],
  });
  await backend.close();
  const commands = results(messages, "execute");
  return {
    outline: outline(messages),
    script: commands[0]?.includes("from the script"),
    made: results(messages, "read_file")[0]?.includes("made"),
    failed: [commands[2]?.includes("wrong"), commands[2]?.includes("7")],
  };
}
