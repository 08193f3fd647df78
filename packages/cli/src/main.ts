#!/usr/bin/env node
/** The bin `deepwright`. Help and version answer without loading an agent. */
import { CommandError } from "./command-error.ts";
import type { Handlers } from "./command-line.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { safeText } from "./terminal/safe-text.ts";

const code = await started(process.argv.slice(2), {
  app: async (options) => {
    const { appCommand } = await import("./app/app-command.ts");
    return appCommand(options);
  },
  run: async (words, options) => {
    if (words.length === 0 && isBare(options) && process.stdin.isTTY && process.stdout.isTTY) {
      const { appCommand } = await import("./app/app-command.ts");
      return appCommand({});
    }
    if (options.bestOf !== undefined) {
      const { bestOfCommand } = await import("./forks/best-of-command.ts");
      return bestOfCommand(words, options);
    }
    const { runCommand } = await import("./run/run-command.ts");
    return runCommand(words, options);
  },
  threads: async (...request) => {
    const { threadsCommand } = await import("./threads/threads-command.ts");
    return threadsCommand(...request);
  },
  memory: async (options) => {
    const { consolidateCommand } = await import("./memory/consolidate-command.ts");
    return consolidateCommand(options);
  },
  mcp: async (...request) => {
    const { mcpCommand } = await import("./mcp/mcp-command.ts");
    return mcpCommand(...request);
  },
  trust: async (directory, options) => {
    const { trustCommand } = await import("./trust/trust-command.ts");
    return trustCommand(directory, options);
  },
  config: async (...request) => {
    const { configCommand } = await import("./settings/config-command.ts");
    return configCommand(...request);
  },
  models: async (options) => {
    const { modelsCommand } = await import("./models/models-command.ts");
    return modelsCommand(options);
  },
  login: async (...request) => {
    const { loginCommand } = await import("./login/login-command.ts");
    return loginCommand(...request);
  },
  doctor: async (...request) => {
    const { doctorCommand } = await import("./doctor/doctor-command.ts");
    return doctorCommand(...request);
  },
  signIn: async (options) => {
    const { signInCommand } = await import("./sign-in/sign-in-command.ts");
    return signInCommand(options);
  },
  eval: async (request) => {
    const { evalCommand } = await import("./eval/eval-command.ts");
    return evalCommand(request);
  },
  completion: async (...request) => {
    const { completionCommand } = await import("./completion/completion-command.ts");
    return completionCommand(...request);
  },
  acp: async (options) => {
    const { acpCommand } = await import("./acp/acp-command.ts");
    return acpCommand(options);
  },
  pair: async (options) => (await import("./pair/pair-command.ts")).pairCommand(options),
  serve: async (file, options) => {
    const { serveCommand } = await import("./serve/serve-command.ts");
    return serveCommand(file, options);
  },
}).catch(async (error: unknown) => {
  const { withoutSecrets } = await import("deepwright/secrets");
  const { message, hint } = error instanceof CommandError ? error : { message: String(error), hint: "" };
  const words = withoutSecrets([message, hint].filter(Boolean).join(" "));
  process.stderr.write(`deepwright: ${safeText(words)}\n`);
  return error instanceof CommandError ? error.exitCode : EXIT.failed;
});

await Promise.all([written(process.stdout), written(process.stderr)]);
// Work that did not notice a stop must not keep the process alive.
process.exit(code);

/** Nothing but the name of the program opens the app: the parser of words is not loaded. */
async function started(words: readonly string[], handlers: Handlers): Promise<ExitCode> {
  if (words.length === 0 && process.stdin.isTTY && process.stdout.isTTY) return handlers.app({});
  const { commandLine } = await import("./command-line.ts");
  // One level above both `src` and `dist`; the command line itself is in a chunk further down.
  return commandLine(words, handlers, new URL("../package.json", import.meta.url));
}

/** Nothing was said but the name of the command, as with `npm start`. */
function isBare(options: object): boolean {
  return Object.values(options).every((value) => value === true);
}

/** Resolves when everything given to the stream has left it, or nobody takes it any more. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    if (stream.destroyed || !stream.writable) resolve();
    else stream.write("", () => resolve());
  });
}
