/** Races on a disk: another process turns links and directories while a backend works. They run in tests and in `npm run chaos`. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readRawFile } from "../backends/adapt/raw-file.ts";
import type { BackendProtocol, GrepResult } from "../backends/backend.ts";
import { FilesystemBackend } from "../backends/disk/filesystem.ts";
import { hashOf } from "../backends/disk/hash-tree-for-tests.ts";
import { guardBackend } from "./guard.ts";
import { PolicyBackend } from "./policy/policy.ts";

export interface RaceOutcome {
  readonly rounds: number;
  /** Rounds in which the racing operations did what they are for: without any, nothing was raced. */
  readonly hits: number;
  readonly problems: readonly string[];
}

/** Plays in an empty directory for so long, and for at least `rounds` rounds. */
export type Race = (directory: string, milliseconds: number, rounds?: number) => Promise<RaceOutcome>;

/** Puts one of two entries at a path and then the other, in a process of its own, until it is killed. */
const EXCHANGER = `
  const fs = require("node:fs");
  const [path, one, other] = process.argv.slice(1);
  const pause = () => { for (let left = Math.random() * 2_000_000; left > 0; left--); };
  fs.renameSync(one, path);
  for (;;) {
    pause();
    fs.renameSync(path, one);
    fs.renameSync(other, path);
    pause();
    fs.renameSync(path, other);
    fs.renameSync(one, path);
  }
`;

/** The same for a link, which is never missing: it is replaced in one step. */
const TURNER = `
  const fs = require("node:fs");
  const [path, ...targets] = process.argv.slice(1);
  const pause = () => { for (let left = Math.random() * 20_000; left > 0; left--); };
  for (let turn = 0; ; turn++) {
    fs.symlinkSync(targets[turn % 2], path + ".next");
    fs.renameSync(path + ".next", path);
    pause();
  }
`;

type Turn = (round: number, problems: string[]) => Promise<boolean>;

/** `turn` says whether it hit what it is about. */
async function race(
  program: string,
  given: readonly [string, string, string],
  length: readonly [milliseconds: number, rounds: number],
  turn: Turn,
): Promise<RaceOutcome> {
  const child = spawn(process.execPath, ["-e", program, ...given], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const problems: string[] = [];
  let [rounds, hits] = [0, 0];
  const end = performance.now() + length[0];
  try {
    while (problems.length < 20 && (performance.now() < end || rounds < length[1] || hits === 0)) {
      if (child.exitCode !== null) throw new Error("The racing process ended.");
      if (await turn(rounds, problems)) hits += 1;
      rounds += 1;
      if (rounds % 8 === 0) await sleep(0);
    }
  } finally {
    const ended = once(child, "exit");
    if (child.kill("SIGKILL")) await ended;
  }
  return { rounds, hits, problems };
}

const OTHERS = 1_500;

/**
 * A directory is exchanged with a link to one outside, in which one of the same two files does not match: an answer with
 * one of them alone was made with the help of the outside.
 */
export const searchRace: Race = (directory, milliseconds, rounds = 1) => {
  const root = join(directory, "root");
  const outside = join(directory, "outside");
  mkdirSync(join(root, "z-real"), { recursive: true });
  mkdirSync(outside);
  for (let i = 0; i < OTHERS; i++) {
    if (i % 100 === 0) mkdirSync(join(root, `d${i}`));
    writeFileSync(join(root, `d${i - (i % 100)}/${i}.txt`), "nothing to see\n".repeat(20));
  }
  for (const name of ["a.txt", "b.txt"]) writeFileSync(join(root, "z-real", name), "a needle inside\n");
  writeFileSync(join(outside, "a.txt"), "a needle outside, of another size\n");
  writeFileSync(join(outside, "b.txt"), "none\n");
  symlinkSync(outside, join(root, "z-link"));
  const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
  const inside = ["/z/a.txt", "/z/b.txt"];
  return race(
    EXCHANGER,
    [join(root, "z"), join(root, "z-real"), join(root, "z-link")],
    [milliseconds, rounds],
    async (_, problems) => {
      const grep: GrepResult = await backend.grep("needle");
      const texts = (grep.matches ?? []).map(({ text }) => text);
      const found = (grep.matches ?? []).map(({ path }) => path).filter((path) => path.startsWith("/z/"));
      if (found.length === 1 || texts.some((text) => text !== "a needle inside"))
        problems.push(`grep: ${JSON.stringify(grep)}`);
      const glob = await backend.glob("z/*.txt");
      const sizes = (glob.files ?? []).filter(({ path }) => inside.includes(path)).map(({ size }) => size);
      if (sizes.length === 1 || sizes.some((size) => size !== 16))
        problems.push(`glob: ${JSON.stringify(glob)}`);
      return found.length === 2;
    },
  );
};

/** A link leads to an allowed place and to a denied one in turns. */
export function permissionRace(guard: (backend: FilesystemBackend) => BackendProtocol): Race {
  return async (directory, milliseconds, rounds = 1) => {
    const root = join(directory, "root");
    for (const [name, text] of [
      ["open", "public"],
      ["closed", "secret"],
    ] as const) {
      mkdirSync(join(root, name, "tree/deep"), { recursive: true });
      writeFileSync(join(root, name, "data.txt"), `${text} mark\n`);
      writeFileSync(join(root, name, `${text}.txt`), `${text} mark\n`);
      writeFileSync(join(root, name, "tree/deep/file.txt"), text);
    }
    symlinkSync("open", join(root, "flip"));
    const closed = hashOf(join(root, "closed"));
    const backend = guard(new FilesystemBackend({ rootDir: root, virtualMode: true }));
    const given = [join(root, "flip"), "open", "closed"] as const;
    const outcome = await race(TURNER, given, [milliseconds, rounds], async (round, problems) => {
      const seen = JSON.stringify(await everyCall(backend, round));
      if (seen.includes("secret")) problems.push(`read: ${seen}`);
      return seen.includes("public");
    });
    const isKept = hashOf(join(root, "closed")) === closed;
    return isKept ? outcome : { ...outcome, problems: [...outcome.problems, "the denied place was changed"] };
  };
}

/** All that can be done through the link. Bytes are shown as text. */
async function everyCall(backend: BackendProtocol, round: number): Promise<unknown[]> {
  const [from, to] = round % 2 === 0 ? ["mark", "MARK"] : ["MARK", "mark"];
  const bytes = Buffer.from(`new ${round}`);
  const downloaded = await backend.downloadFiles?.(["/flip/data.txt"]);
  return [
    await backend.read("/flip/data.txt"),
    await backend.edit("/flip/data.txt", from as string, to as string),
    await readRawFile(backend, "/flip/data.txt"),
    Buffer.from(downloaded?.[0]?.content ?? []).toString(),
    await backend.grep(" ", "/flip", "*.txt"),
    await backend.edit("/flip/data.txt", from as string, to as string),
    await backend.ls("/flip"),
    await backend.glob("**", "/flip"),
    await backend.append?.("/flip/log.txt", "line\n"),
    await backend.write(`/flip/new-${round}/file.txt`, "new"),
    await backend.write("/flip/data.txt", "public mark\n", { overwrite: true }),
    await backend.uploadFiles?.([[`/flip/up-${round}`, bytes]]),
    await backend.delete?.(`/flip/new-${round}`),
    await backend.delete?.(`/flip/up-${round}`),
    await backend.delete?.("/flip/tree"),
    await backend.write("/open/tree/deep/file.txt", "public"),
  ];
}

export const guardRace: Race = permissionRace(
  (backend) =>
    guardBackend(backend, [
      { operations: ["read", "write"], paths: ["/closed/**"], mode: "deny" },
    ]) as BackendProtocol,
);

export const policyRace: Race = permissionRace(
  (backend) =>
    new PolicyBackend(backend, {
      denyPrefixes: ["/closed"],
      check: (_, path) => (path === "/closed" || path.startsWith("/closed/") ? "closed" : undefined),
    }),
);

/** The directory that the root lies in is exchanged with a link to another one, in which there is a directory of that name. */
export const rootRace: Race = async (directory, milliseconds, rounds = 1) => {
  const root = join(directory, "parent/root");
  const outside = join(directory, "outside");
  for (const [place, text] of [
    [join(directory, "parent-real/root"), "inside"],
    [join(outside, "root"), "a secret"],
  ] as const) {
    mkdirSync(place, { recursive: true });
    writeFileSync(join(place, "data.txt"), text);
  }
  symlinkSync("parent-real", join(directory, "parent"));
  symlinkSync(outside, join(directory, "parent-link"));
  const before = hashOf(outside);
  const backend = new FilesystemBackend({ rootDir: root, virtualMode: true });
  await backend.read("/data.txt");
  const given = [join(directory, "parent"), "parent-real", outside] as const;
  const outcome = await race(TURNER, given, [milliseconds, rounds], async (round, problems) => {
    const seen = JSON.stringify([
      await backend.read("/data.txt"),
      await backend.write(`/new-${round}`, "new"),
      await backend.grep("a secret"),
      await backend.ls("/"),
      await backend.delete(`/new-${round}`),
    ]);
    if (seen.includes("a secret") || seen.includes('"size":8,')) problems.push(seen);
    return seen.includes("inside");
  });
  const isKept = hashOf(outside) === before;
  return isKept ? outcome : { ...outcome, problems: [...outcome.problems, "something outside was changed"] };
};
