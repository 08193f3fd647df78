/** What a program written for the peer looks for and does not find: all of it is in docs/agents.md, with the reason. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import * as ours from "deepwright";
import { expect, onTestFinished, test } from "vitest";

const PEER = resolve("bench", "node_modules", "deepagents", "dist");
const declarations = readFileSync(join(PEER, "index.d.ts"), "utf8");

/** The names in the first column of the table; each row has its reason. */
function documented(): string[] {
  const guide = readFileSync("docs/agents.md", "utf8");
  const [, section = ""] = guide.split("## Coming from deepagents");
  const rows = [...section.matchAll(/^\| (`.*?) \| (.*?) \|$/gm)];
  for (const [row, , reason = ""] of rows) expect(reason.length, row).toBeGreaterThan(20);
  return rows.flatMap(([, names = ""]) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name as string));
}

async function missingValues(): Promise<string[]> {
  const peer = (await import(pathToFileURL(join(PEER, "index.js")).href)) as object;
  return Object.keys(peer).filter((name) => !(name in ours));
}

/** Of the types the peer exports, those the compiler does not find here. */
function missingTypes(): string[] {
  const exported = [...declarations.matchAll(/^export \{([^}]*)\}/gm)].flatMap(([, list = ""]) =>
    list.split(","),
  );
  const types = exported.flatMap((item) => /^\s*type (?:\S+ as )?(\w+)\s*$/.exec(item)?.[1] ?? []);
  expect(types.length).toBeGreaterThan(50);
  const folder = resolve("bench", ".types", `exports-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "names.ts"), `export type { ${types.join(", ")} } from "deepwright";\n`);
  const config = { extends: resolve("tsconfig.json"), include: ["names.ts"] };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(config));
  const { stdout } = spawnSync(resolve("node_modules", ".bin", "tsc"), ["-p", folder, "--noEmit"], {
    encoding: "utf8",
  });
  const errors = stdout.trim() === "" ? [] : stdout.trim().split("\n");
  return errors.map((line) => {
    const [, name] = /has no exported member (?:named )?'(\w+)'/.exec(line) ?? [];
    return name ?? expect.unreachable(line);
  });
}

test("what the peer exports and we do not, values and types, is in the guide with its reason", async () => {
  const missing = [...(await missingValues()), ...missingTypes()];
  expect(missing.toSorted()).toEqual(documented().toSorted());
});

test("every value that the peer exports, classes included, is one of ours", async () => {
  expect(await missingValues()).toEqual([]);
});

test("every option of the peer's createDeepAgent is one of ours", () => {
  const file = execFileSync(
    "grep",
    ["-l", "interface CreateDeepAgentParams", "-r", PEER, "--include=*.d.ts"],
    {
      encoding: "utf8",
    },
  );
  const [path = ""] = file.trim().split("\n");
  const [, body = ""] =
    /interface CreateDeepAgentParams[\s\S]*?\{\n([\s\S]*?)\n\}/.exec(readFileSync(path, "utf8")) ?? [];
  const options = [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name as string);
  expect(options).toEqual(expect.arrayContaining(["model", "tools", "subagents", "skills"]));
  for (const option of options) expect(refusal({ [option]: 0 }), option).not.toBe("UNKNOWN_OPTION");
  expect(refusal({ modle: 0 })).toBe("UNKNOWN_OPTION");
});

function refusal(options: object): string | undefined {
  try {
    ours.createDeepAgent(options);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}
