import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** Makes two packages as if they were not installed, and opens a sandbox of each. */
const SCRIPT = `
import { register } from "node:module";
register("data:text/javascript," + encodeURIComponent(\`
  export async function resolve(name, context, next) {
    if (name !== "@daytonaio/sdk" && name !== "@runloop/api-client") return next(name, context);
    throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
  }
\`));
const { daytonaSandbox } = await import("@deepwright/sandboxes/daytona");
const { runloopSandbox } = await import("@deepwright/sandboxes/runloop");
for (const provider of [daytonaSandbox({ apiKey: "key" }), runloopSandbox({ apiKey: "key" })])
  await provider.open({ key: "key", env: {} }).catch((error) => console.log(error.code, error.message));
`;

test("without the vendor's package a provider can be made, and opening it names the install line", async () => {
  const { stdout } = await run(
    process.execPath,
    ["--conditions", "source", "--import", "tsx", "--input-type=module", "--eval", SCRIPT],
    { cwd: import.meta.dirname },
  );
  expect(stdout).toMatch(/^SANDBOX_UNAVAILABLE .*npm install @daytonaio\/sdk$/m);
  expect(stdout).toMatch(/^SANDBOX_UNAVAILABLE .*npm install @runloop\/api-client$/m);
});
