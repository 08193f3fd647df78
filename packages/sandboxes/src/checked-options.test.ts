import { ConfigurationError } from "deepwright";
import { describe, expect, test } from "vitest";
import { agentcoreSandbox } from "./agentcore.ts";
import { daytonaSandbox } from "./daytona.ts";
import { dockerSandbox } from "./docker.ts";
import { e2bSandbox } from "./e2b.ts";
import { harborSandbox } from "./harbor.ts";
import { langsmithSandbox } from "./langsmith.ts";
import { modalSandbox } from "./modal.ts";
import { osSandbox } from "./os.ts";
import type { SandboxProvider } from "./provider.ts";
import { runloopSandbox } from "./runloop.ts";

type Make = (options?: Record<string, unknown> | null) => SandboxProvider;

const environment = { exec: async () => ({ stdout: "", stderr: "", exitCode: 0 }) };

const CLOUDS: Readonly<Record<string, Make>> = {
  modalSandbox: modalSandbox as Make,
  daytonaSandbox: daytonaSandbox as Make,
  e2bSandbox: e2bSandbox as Make,
  runloopSandbox: runloopSandbox as Make,
  langsmithSandbox: langsmithSandbox as Make,
  agentcoreSandbox: agentcoreSandbox as Make,
};
const ALL: Readonly<Record<string, Make>> = {
  ...CLOUDS,
  osSandbox: osSandbox as Make,
  dockerSandbox: dockerSandbox as Make,
  harborSandbox: ((options) => harborSandbox({ environment, ...options })) as Make,
};
/** Stands for what a vendor's package returns. */
const SESSION = { client: {}, sessionId: "s-1", codeInterpreter: null };
const HANDLES: Readonly<Record<string, Make>> = Object.fromEntries(
  Object.entries(CLOUDS).map(([name, make]) => [
    name,
    (options) => make({ sandbox: name === "agentcoreSandbox" ? SESSION : {}, ...options }),
  ]),
);

function refusal(make: () => unknown): ConfigurationError {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    return error as ConfigurationError;
  }
  throw new Error("It was taken.");
}

describe.each(Object.entries(ALL))("%s", (name, make) => {
  test("refuses an option it does not have, and names those it has", () => {
    const error = refusal(() => make({ netwrok: { allow: ["pypi.org"] } }));
    expect(error.code).toBe("UNKNOWN_OPTION");
    expect(error.message).toContain(`${name} has no option 'netwrok'. Its options are: `);
    expect(error.message).toMatch(/timeout, maxOutputBytes/);
  });

  test("says whose an option of createSandbox is", () => {
    const error = refusal(() => make({ setupScript: "true" }));
    expect(error.message).toContain("'setupScript' is an option of createSandbox.");
  });

  test.each<[Record<string, unknown>, RegExp]>([
    [{ timeout: 0 }, /^The option 'timeout' must be a number of seconds above 0.* It is 0\./],
    [{ timeout: -1 }, /^The option 'timeout' must be/],
    [{ timeout: "60" }, /^The option 'timeout' must be a number of seconds.* It is of type string\./],
    [{ timeout: Number.NaN }, /^The option 'timeout' must be/],
    [{ timeout: Number.POSITIVE_INFINITY }, /^The option 'timeout' must be/],
    [{ maxOutputBytes: -1 }, /^maxOutputBytes must be a positive number, got -1\./],
    [{ env: { "b-c": "x" } }, /^env: 'b-c' is no name of a variable\./],
    [{ env: { "": "x" } }, /^env: '' is no name of a variable\./],
    [{ env: { A: 1 } }, /^env: the value of 'A' must be text without NUL\./],
    [{ env: { N: "a\0b" } }, /^env: the value of 'N' must be text without NUL\./],
    [{ env: ["A=1"] }, /^env must be an object of texts, got a list\./],
    [{ workingDirectory: 7 }, /^workingDirectory must be text, got 7\./],
  ])("refuses %o when it is made", (options, message) => {
    const error = refusal(() => make(options));
    expect(error.code).toBe("INVALID_OPTION");
    expect(error.message).toMatch(message);
  });

  test("takes null for absent, also where it has no such option", () => {
    const options = ["workingDirectory", "env", "timeout", "maxOutputBytes", "network", "egress", "sandbox"];
    const nothing = Object.fromEntries(options.map((option) => [option, null]));
    const { network, workingDirectory } = make({});
    expect(make(nothing)).toMatchObject({ network, workingDirectory });
    expect(make(null)).toMatchObject({ network, workingDirectory });
  });
});

test.each(Object.entries({ ...ALL, harborSandbox: harborSandbox as unknown as Make }))(
  "%s takes no list and no text for its options",
  (_, make) => {
    for (const wrong of [["x"], "x"])
      expect(() => make(wrong as never)).toThrow(/takes one object of options/);
  },
);

describe("what a sandbox may reach", () => {
  test.each([...Object.entries(ALL)].filter(([name]) => name !== "osSandbox"))(
    "%s refuses the egress of os, and says what it has instead",
    (_, make) => {
      const error = refusal(() => make({ egress: { allow: ["pypi.org"] } }));
      expect(error.code).toBe("UNKNOWN_OPTION");
      expect(error.message).toMatch(/network/);
    },
  );

  test("osSandbox refuses the network of the others, and says what it has instead", () => {
    expect(refusal(() => ALL.osSandbox?.({ network: "open" })).message).toMatch(/`egress`.*allow/);
  });

  test("the egress of osSandbox takes null for absent, and is refused where it is no list", () => {
    const make = ALL.osSandbox as Make;
    expect(make({ egress: { allow: null, inject: null, onConnection: null } }).network).toBe("none");
    expect(make({ egress: { allow: ["pypi.org"], inject: null } }).network).toBe("allow-list");
    expect(refusal(() => make({ egress: { inject: {} } })).message).toMatch(/^egress\.inject must be a list/);
    expect(refusal(() => make({ egress: { alow: [] } })).message).toMatch(/egress has no option 'alow'/);
  });

  test.each(["modalSandbox", "daytonaSandbox", "e2bSandbox", "langsmithSandbox"])(
    "%s understands the whole of `network`, or refuses it",
    (name) => {
      const make = ALL[name] as Make;
      for (const network of [
        {},
        { alow: ["pypi.org"] },
        { allow: ["pypi.org"], deny: [] },
        { allow: null },
        1,
      ])
        expect(refusal(() => make({ network })).code).toBe("INVALID_OPTION");
    },
  );

  test.each([
    ["runloopSandbox", { policy: "npol_1", reach: "none", allow: ["pypi.org"] }],
    ["runloopSandbox", { policy: 1, reach: "none" }],
    ["runloopSandbox", "none"],
    ["agentcoreSandbox", { allow: ["pypi.org"] }],
    ["harborSandbox", "closed"],
    ["dockerSandbox", { allow: ["pypi.org"] }],
  ])("%s refuses the network %o", (name, network) => {
    expect(refusal(() => ALL[name]?.({ network })).message).toMatch(/^network/);
  });
});

describe("what a place may use", () => {
  test.each([
    ["dockerSandbox", { memoryMb: 512 }, /limits has no option 'memoryMb'. It is `memory` here, in bytes\./],
    ["dockerSandbox", { processes: 5 }, /It is `pids` here\./],
    ["osSandbox", { memory: 512 }, /limits has no option 'memory'. It is `memoryMb` here\./],
    ["osSandbox", { pids: 5 }, /It is `processes` here\./],
    ["dockerSandbox", { cpus: "2" }, /^limits.cpus must be a positive number, got text\./],
    ["osSandbox", { memoryMb: 0.5 }, /^limits.memoryMb must be a positive whole number\./],
  ])("%s refuses the limits %o in the words of its own", (name, limits, message) => {
    expect(refusal(() => ALL[name]?.({ limits })).message).toMatch(message);
  });

  test("limits and workspaces take null for absent", () => {
    expect(ALL.dockerSandbox?.({ limits: { memory: null }, workspace: null }).lendsFiles).toBe(false);
    expect(ALL.dockerSandbox?.({ workspace: { directory: "/tmp", readOnly: null } }).lendsFiles).toBe(true);
    expect(ALL.osSandbox?.({ limits: { memoryMb: null } }).name).toBe("os");
    expect(() => ALL.dockerSandbox?.({ workspace: { directory: "/tmp", readonly: true } })).toThrow(
      /workspace has no option 'readonly'/,
    );
  });
});

describe.each(Object.entries(HANDLES))("%s with a sandbox that is handed in", (name, make) => {
  test("takes it, with what commands need", () => {
    const provider = make({
      env: { A: "1" },
      timeout: 5,
      maxOutputBytes: null,
      workingDirectory: "/app/",
    });
    expect(provider).toMatchObject({ isBorrowed: true, workingDirectory: "/app" });
  });

  test("refuses what is about making one", () => {
    const error = refusal(() => make({ openTimeout: 5 }));
    expect(error.code).toBe("UNKNOWN_OPTION");
    expect(error.message).toContain(`${name} with a 'sandbox' has no option 'openTimeout'.`);
    expect(refusal(() => make({ egress: { allow: [] } })).code).toBe("UNKNOWN_OPTION");
  });

  test("refuses bad values as it does without one", () => {
    expect(refusal(() => make({ timeout: 0 })).message).toMatch(/^The option 'timeout' must be/);
    expect(refusal(() => make({ env: { "a b": "" } })).message).toMatch(/^env: 'a b'/);
    expect(refusal(() => make({ workingDirectory: "app" })).message).toMatch(/no absolute path/);
  });

  test("refuses what is no sandbox", () => {
    expect(refusal(() => make({ sandbox: "sb-123" })).message).toMatch(/^sandbox must be the object/);
    const promise = Promise.resolve({});
    expect(refusal(() => make({ sandbox: promise })).message).toMatch(/^sandbox is a promise\. Await/);
  });
});

test("a session of AgentCore has a client and an id, and nothing unknown", () => {
  const make = CLOUDS.agentcoreSandbox as Make;
  expect(refusal(() => make({ sandbox: { client: {} } })).message).toMatch(/a `client` and a `sessionId`/);
  expect(refusal(() => make({ sandbox: { ...SESSION, region: "x" } })).code).toBe("UNKNOWN_OPTION");
});
