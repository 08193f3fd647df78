// The worker while it is TypeScript. Not published.
import { bundleSource } from "./bundle-source.mjs";

await import(
  await bundleSource("worker", new URL("./worker.ts", import.meta.url), [new URL("..", import.meta.url)])
);
