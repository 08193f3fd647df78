// Loaded before each test file: closes what helpers have opened for it, and puts back what is shared with the next file.
import { afterAll, afterEach } from "vitest";
import { endFile, endTest } from "./test-cleanups.mjs";

/** The library's registries, which hold for the whole process. */
const REGISTRIES = ["provider-profiles.v1", "harness-profiles.v1", "async-graphs.v1"];
const environment = { ...process.env };

afterEach(endTest);
afterAll(async () => {
  await endFile();
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  for (const name of REGISTRIES) globalThis[Symbol.for(`deepwright.${name}`)]?.clear();
});
