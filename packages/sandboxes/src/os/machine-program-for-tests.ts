/** A process that opens sandboxes, runs commands in them and prints how that went: for tests on machines of other kinds. */
import { osSandbox } from "../os.ts";
import type { MachineAnswer, MachineTask } from "./machine-for-tests.ts";

async function answer({ options, commands }: MachineTask): Promise<MachineAnswer> {
  try {
    const opened = await osSandbox(options).open({ key: "machine", env: {} });
    const outputs: string[] = [];
    for (const command of commands) {
      const { output, exitCode } = await opened.sandbox.execute(command, { timeout: 600 });
      outputs.push(exitCode === 0 ? output : `${output}[exit ${exitCode}]`);
    }
    await opened.destroy();
    return { outputs };
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: string };
    return { outputs: [], code: code ?? "none", message };
  }
}

const answers: MachineAnswer[] = [];
for (const task of JSON.parse(process.argv[2] ?? "[]") as MachineTask[]) answers.push(await answer(task));
process.stdout.write(JSON.stringify(answers));
