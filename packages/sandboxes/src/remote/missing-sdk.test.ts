import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const run = promisify(execFile);

/** By provider, the package and the options it is made with. */
const VENDORS: Readonly<Record<string, readonly [vendor: string, options: object]>> = {
  docker: ["dockerode", { socketPath: "/nonexistent/docker.sock" }],
  modal: ["modal", {}],
  runloop: ["@runloop/api-client", { apiKey: "key" }],
  daytona: ["@daytonaio/sdk", { apiKey: "key" }],
  langsmith: ["langsmith", { apiKey: "key" }],
  agentcore: ["@aws-sdk/client-bedrock-agentcore", { region: "us-east-1" }],
  e2b: ["e2b", { apiKey: "key" }],
};

/** Makes the packages as if they were not installed for us, as Node says it, and opens a sandbox of each. */
const SCRIPT = `
import { register } from "node:module";
const vendors = ${JSON.stringify(VENDORS)};
const names = Object.values(vendors).map(([vendor]) => vendor);
register("data:text/javascript," + encodeURIComponent(\`
  export async function resolve(name, context, next) {
    const vendor = \${JSON.stringify(names)}.find((one) => name === one || name.startsWith(one + "/"));
    if (vendor === undefined || !context.parentURL?.includes("/sandboxes/src/")) return next(name, context);
    throw Object.assign(new Error("Cannot find package '" + vendor + "'"), { code: "ERR_MODULE_NOT_FOUND" });
  }
\`));
for (const [provider, [, options]] of Object.entries(vendors)) {
  const made = (await import("@deepwright/sandboxes/" + provider))[provider + "Sandbox"](options);
  await made.open({ key: "key", env: {} }).catch((error) => console.log(provider, error.code, error.message));
}
`;

test("without the vendor's package a provider can be made, and opening it names the install line", async () => {
  const { stdout } = await run(
    process.execPath,
    ["--conditions", "source", "--import", "tsx", "--input-type=module", "--eval", SCRIPT],
    { cwd: import.meta.dirname },
  );
  const said = stdout.trim().split("\n");
  expect(said).toEqual(
    Object.entries(VENDORS).map(([provider, [vendor]]) =>
      expect.stringMatching(new RegExp(`^${provider} SANDBOX_UNAVAILABLE .*npm install ${vendor}$`)),
    ),
  );
});
