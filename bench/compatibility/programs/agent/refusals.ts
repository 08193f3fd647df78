/** Mistakes of the programmer that are found when the agent is built. */
import { tool } from "@langchain/core/tools";
import {
  CompositeBackend,
  ConfigurationError,
  createDeepAgent,
  createFilesystemMiddleware,
  LocalShellBackend,
  StateBackend,
} from "library";
import { z } from "zod";
import { scratch } from "../../kit/scratch.ts";
import { scripted } from "../../kit/scripted-model.ts";

const named = (name: string) => tool(() => "x", { name, description: "x", schema: z.object({}) });

function refused(build: () => unknown): unknown {
  try {
    build();
    return "accepted";
  } catch (error) {
    const collision = ConfigurationError.isInstance(error) && error.code === "TOOL_NAME_COLLISION";
    return collision ? error.code : "refused";
  }
}

export default async function program() {
  const model = scripted([]);
  const shell = new LocalShellBackend({ rootDir: scratch("refusals"), virtualMode: true });
  const deny = (path: string) => [{ operations: ["write" as const], paths: [path], mode: "deny" as const }];
  const mounted = new CompositeBackend(shell, { "/memories/": new StateBackend() });
  const twice = { name: "a", description: "a", systemPrompt: "a" };
  const own = new ConfigurationError("names collide", "TOOL_NAME_COLLISION");
  return {
    own: [own.name, own.code, own.message, ConfigurationError.isInstance(new Error("x"))],
    ownLs: refused(() => createDeepAgent({ model, tools: [named("ls")] })),
    ownTask: refused(() => createDeepAgent({ model, tools: [named("task")] })),
    ownName: refused(() => createDeepAgent({ model, tools: [named("mine")] })),
    shellWithRules: refused(() => createDeepAgent({ model, backend: shell, permissions: deny("/x/**") })),
    mountWithRules: refused(() =>
      createDeepAgent({ model, backend: mounted, permissions: deny("/memories/**") }),
    ),
    mountWithOtherRules: refused(() =>
      createDeepAgent({ model, backend: mounted, permissions: deny("/x/**") }),
    ),
    shellWithoutExecute: refused(() =>
      createFilesystemMiddleware({ backend: shell, permissions: deny("/x/**"), tools: ["read_file", "ls"] }),
    ),
    relativePath: refused(() => createDeepAgent({ model, permissions: deny("x/**") })),
    climbingPath: refused(() => createDeepAgent({ model, permissions: deny("/x/../y") })),
    homePath: refused(() => createDeepAgent({ model, permissions: deny("/~/x") })),
    withoutReadFile: refused(() => createFilesystemMiddleware({ tools: ["ls"] })),
    sameNameTwice: refused(() => createDeepAgent({ model, subagents: [twice, twice] })),
  };
}
