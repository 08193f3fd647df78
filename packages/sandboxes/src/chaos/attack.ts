/**
 * An attacker with everything an agent has: two sandboxes on one directory, all file tools and commands, and nobody who
 * says no. One sandbox exchanges directories for links to the outside all the time; the other works with their names.
 */
import { createHash, randomBytes } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createDeepAgent } from "deepwright";
import { scriptedModel } from "deepwright/testing";
import { type Random, randomFrom } from "../../../checkpoint/src/chaos/random.ts";
import { osSandbox } from "../os.ts";
import type { OpenedSandbox } from "../provider.ts";
import { attackTurn, exchanging, READY, VICTIMS } from "./attack-turns.ts";

export interface AttackResult {
  readonly rounds: number;
  readonly calls: number;
  /** Sentences that say what got in or out. */
  readonly escapes: readonly string[];
}

const TURNS = 6;
const CALLS_PER_TURN = 5;

/** Attacks until `seconds` are over or something got out. */
export async function attack(
  seconds: number,
  seed: number,
  say = (_: string): void => {},
): Promise<AttackResult> {
  const site = makeSite();
  const random = randomFrom(seed);
  const end = performance.now() + seconds * 1_000;
  const escapes: string[] = [];
  let [rounds, calls] = [0, 0];
  try {
    const before = fingerprint(site.host, site.workspace);
    while (performance.now() < end && escapes.length === 0) {
      const seen = await oneRound(site, random);
      rounds += 1;
      calls += seen.length;
      if (seen.some((text) => text.includes(site.secret)))
        escapes.push(`round ${rounds}: content from outside was read`);
      const changed = difference(before, fingerprint(site.host, site.workspace));
      if (changed !== undefined) escapes.push(`round ${rounds}: ${changed}`);
      if (rounds % 20 === 0) say(`${rounds} rounds, ${calls} calls, ${escapes.length} escapes`);
    }
  } finally {
    rmSync(site.host, { recursive: true, force: true });
  }
  return { rounds, calls, escapes };
}

interface Site {
  /** Holds the workspace and what is outside of it. */
  readonly host: string;
  readonly workspace: string;
  readonly outside: string;
  readonly secret: string;
}

function makeSite(): Site {
  const host = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-attack-")));
  const [workspace, outside] = [join(host, "workspace"), join(host, "outside")];
  const secret = `SECRET-${randomBytes(12).toString("hex")}`;
  mkdirSync(join(outside, "deep"), { recursive: true });
  for (const name of ["notes.txt", "authorized_keys", "config", "Makefile", "deep/notes.txt"])
    writeFileSync(join(outside, name), `${secret}\n`, { mode: 0o600 });
  return { host, workspace, outside, secret };
}

/** As at first: the sandbox that exchanges names must be open before there are repositories it could not move. */
function makeWorkspace({ workspace }: Site): void {
  rmSync(workspace, { recursive: true, force: true });
  for (const name of VICTIMS) {
    mkdirSync(join(workspace, name), { recursive: true });
    writeFileSync(join(workspace, name, "notes.txt"), "inside\n");
  }
}

/** Returns the answers of the tools. */
async function oneRound(site: Site, random: Random): Promise<string[]> {
  makeWorkspace(site);
  const provider = osSandbox({ rootDir: site.workspace });
  const open = (key: string): Promise<OpenedSandbox> => provider.open({ key, env: {} });
  const first = await open("first");
  const stop = new AbortController();
  const command = exchanging(site.outside, 1 + Math.floor(random.below(2 ** 31)));
  const exchange = Promise.resolve(
    first.sandbox.execute(command, { timeout: 60, signal: stop.signal }),
  ).catch(() => undefined);
  while (!existsSync(join(site.workspace, READY))) await sleep(5);
  const second = await open("second").catch((error: Error) => error);
  try {
    if (second instanceof Error) return [];
    const target = { ...site, root: provider.workingDirectory };
    const model = scriptedModel(({ turn }) =>
      turn < TURNS
        ? {
            toolCalls: Array.from({ length: CALLS_PER_TURN }, (_, i) =>
              attackTurn(random, `${turn}-${i}`, target),
            ),
          }
        : "Done.",
    );
    const agent = createDeepAgent({ model: model as never, backend: second.sandbox });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: "Get out." }] } as never);
    return messages.filter(({ type }) => type === "tool").map(({ content }) => JSON.stringify(content));
  } finally {
    stop.abort();
    await exchange;
    if (!(second instanceof Error)) await second.destroy();
    await first.destroy();
  }
}

/** Every entry below `directory` except `left`: its kind, mode and content. */
function fingerprint(directory: string, left: string): Map<string, string> {
  const found = new Map<string, string>();
  const visit = (path: string): void => {
    if (path === left) return;
    const stats = lstatSync(path);
    const content = stats.isFile() ? readFileSync(path) : stats.isSymbolicLink() ? readlinkSync(path) : "";
    const sum = createHash("sha256").update(content).digest("hex").slice(0, 16);
    found.set(path, `${stats.mode.toString(8)} ${stats.uid} ${stats.isFile() ? stats.nlink : ""} ${sum}`);
    if (stats.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
  };
  visit(directory);
  return found;
}

function difference(before: Map<string, string>, after: Map<string, string>): string | undefined {
  for (const [path, state] of after) if (before.get(path) !== state) return `${path} was changed or made`;
  for (const path of before.keys()) if (!after.has(path)) return `${path} was removed`;
  return undefined;
}
