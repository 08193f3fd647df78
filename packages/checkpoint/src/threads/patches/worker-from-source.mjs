// The worker while it is TypeScript. Not published.
import { bundleSource } from "../../sqlite/bundle-source.mjs";

await import(
  await bundleSource("patches", new URL("./worker.ts", import.meta.url), [new URL(".", import.meta.url)])
);
