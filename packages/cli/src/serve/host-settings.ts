/** Settings of this machine for the page of `deepwright serve`. No value of a key is among them. */
import { join } from "node:path";
import type { AllowRule, SettingsOfHost } from "@deepwright/server";
import { explainPermission } from "deepwright";
import { MODEL_PROVIDERS } from "deepwright/providers";
import { forgetRule } from "../app/session/project-rules.ts";
import { commandGate } from "../commands/command-gate.ts";
import { KEYED_PROVIDERS, shownProvider } from "../default-models.ts";
import { choiceLine } from "../model/choice.ts";
import { localServers } from "../models/local-servers.ts";
import { isSecretPath } from "../run/secret-names.ts";
import { homeOf } from "../state/home.ts";
import { SKILLS } from "../trust/instruction-files.ts";
import { memoryOfHost } from "./memory-of-host.ts";
import type { OwnAgent } from "./own-agent.ts";

type Facts = Awaited<ReturnType<SettingsOfHost["facts"]>>;
type Explanation = Awaited<ReturnType<SettingsOfHost["explainCommand"]>>;

/** `directory` is the real path of the agent's. */
export async function settingsOfHost(
  own: OwnAgent,
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<SettingsOfHost> {
  const memory = await memoryOfHost(own, directory, env);
  return {
    directory,
    facts: async () => ({
      ...rulesOf(own),
      directory,
      model: choiceLine(own.choice),
      providers: providersOf(env),
      model_servers: (await localServers(env)).map(({ title, url, models }) => ({
        title,
        url,
        models: models ? [...models] : null,
      })),
      settings_files: own.loaded.files.map(({ path, text }) => ({
        path,
        is_there: text !== undefined,
        is_trusted: !own.loaded.held?.files.includes(path),
      })),
      mcp_servers: await mcpServersOf(own, directory, env),
      skills: await skillsOf(own, directory, env),
      memory: await memory.list(),
    }),
    explainPath: async (path, operation) => explainPath(own, path, operation),
    explainCommand: (command) => explainCommand(own, directory, command),
    forgetAllowed: async (rule) => {
      const known = own.modes.rules.find((one) => isSame(one, rule));
      if (known === undefined) return false;
      own.modes.forget(known);
      await forgetRule(rule, directory, env);
      return true;
    },
    memory: memory.backend,
    propose: (context) => memory.propose(context),
  };
}

function isSame(one: AllowRule, other: AllowRule): boolean {
  const key = ({ tool, prefix }: AllowRule): string => JSON.stringify([tool, prefix ?? null]);
  return one.threadId === undefined && key(one) === key(other);
}

type Rules = "approval_mode" | "sandbox" | "permissions" | "commands" | "allowed";

function rulesOf({ settings, modes, commands }: OwnAgent): Pick<Facts, Rules> {
  const { allow = [], ask = [], deny = [] } = settings.commands ?? {};
  return {
    approval_mode: modes.modeOf(""),
    sandbox: commands?.kind ?? "none",
    permissions: settings.permissions ?? [],
    commands: { allow, ask, deny },
    allowed: modes.rules
      .filter(({ threadId }) => threadId === undefined)
      .map(({ tool, prefix }) => ({ tool, ...(prefix && { prefix: [...prefix] }) })),
  };
}

function providersOf(env: NodeJS.ProcessEnv): Facts["providers"] {
  return MODEL_PROVIDERS.filter(({ keys }) => keys.length > 0).map(({ name, keys }) => {
    const present = keys.find((variable) => env[variable]);
    const provider = shownProvider(name);
    const model = KEYED_PROVIDERS.find((one) => one.provider === provider)?.model;
    return {
      name: provider,
      key: present ?? (keys[0] as string),
      is_present: present !== undefined,
      ...(model !== undefined && { model }),
    };
  });
}

async function mcpServersOf(
  { settings, mcp }: OwnAgent,
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<Facts["mcp_servers"]> {
  const { knownServers } = await import("@deepwright/mcp");
  const servers = settings.mcpServers ?? {};
  const known = await knownServers({ project: directory, home: homeOf(env), servers }).catch(() => []);
  return known.map(({ name, origin, trusted, definition }) => {
    const { state, problem, tools = [] } = mcp?.servers.find((one) => one.name === name) ?? {};
    const without = definition.disabled ? "disabled" : trusted ? "not started" : "untrusted";
    return { name, origin, state: state ?? without, tools: [...tools], ...(problem && { problem }) };
  });
}

async function skillsOf(
  { workplace }: OwnAgent,
  directory: string,
  env: NodeJS.ProcessEnv,
): Promise<Facts["skills"]> {
  const { listSkills } = await import("deepwright");
  const { sources } = workplace.trust;
  const found = new Map<string, Facts["skills"][number]>();
  const add = (skills: ReturnType<typeof listSkills>, isTrusted: boolean): void => {
    for (const { name, description, path } of skills)
      found.set(name, { name, description, path, is_trusted: isTrusted });
  };
  const onWarning = (): void => {};
  add(listSkills({ userSkillsDir: join(homeOf(env), "skills"), onWarning }), true);
  for (const place of SKILLS)
    add(
      listSkills({ projectSkillsDir: join(directory, place), onWarning }),
      !(await sources.skills(`${place}/`)),
    );
  return [...found.values()];
}

function explainPath({ settings }: OwnAgent, path: string, operation: "read" | "write"): Explanation {
  if (isSecretPath(path))
    return {
      decision: "deny",
      reason: "The name says that the file holds keys: the agent's file tools leave it out.",
    };
  const { mode, reason } = explainPermission(settings.permissions ?? [], path, operation);
  return { decision: mode === "interrupt" ? "ask" : mode, reason };
}

/** The order in which an agent asks: rules of the settings, permissions of a person, commands that only look. */
async function explainCommand(own: OwnAgent, directory: string, command: string): Promise<Explanation> {
  const { commands, judge, modes } = own;
  if (commands === undefined)
    return { decision: "deny", reason: "There is no sandbox here: the agent runs no commands." };
  const settled = judge?.(command);
  if (settled) return { decision: settled.decision, reason: settled.reason };
  const { createCommandRules } = await import("@deepwright/sandboxes/command-rules");
  const { words } = createCommandRules([]).judge(command);
  const rule = modes.rules.find(
    ({ tool, prefix, threadId }) =>
      tool === "execute" &&
      threadId === undefined &&
      (prefix === undefined || prefix.every((word, at) => words?.[at] === word)),
  );
  if (rule) {
    const named = rule.prefix ? `commands that begin with \`${rule.prefix.join(" ")}\`` : "all commands";
    return { decision: "allow", reason: `You allowed ${named} in this directory.` };
  }
  const gate = commandGate(commands, { directory, place: "", judge });
  const asks = (await gate.when?.({ toolCall: { name: "execute", args: { command } } } as never)) !== false;
  return asks
    ? { decision: "ask", reason: "No rule allows it, and it does more than look at files that hold no keys." }
    : { decision: "allow", reason: "It only looks at files that hold no keys, inside the sandbox." };
}
