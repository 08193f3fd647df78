import { resolve } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

async function imported(entry: string): Promise<readonly string[]> {
  const { metafile } = await build({
    entryPoints: [resolve("packages/core/src", entry)],
    outdir: "unused",
    write: false,
    bundle: true,
    splitting: true,
    packages: "external",
    format: "esm",
    platform: "neutral",
    metafile: true,
    logLevel: "silent",
  });
  return [
    ...Object.keys(metafile.inputs),
    ...Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path)),
  ];
}

const isTelemetry = (path: string): boolean => /opentelemetry|telemetry/.test(path);

test.each(["index.ts", "browser.ts", "node.ts"])(
  "%s neither loads OpenTelemetry nor leads to it",
  async (entry) => {
    expect((await imported(entry)).filter(isTelemetry)).toEqual([]);
  },
);

test("telemetry is a subpath of its own, which runs anywhere", async () => {
  const { createTelemetryMiddleware } = await import("deepwright/telemetry");
  expect(createTelemetryMiddleware().name).toBe("TelemetryMiddleware");
  const paths = await imported("telemetry/index.ts");
  expect(paths).toContain("@opentelemetry/api");
  expect(paths.filter((path) => path.startsWith("node:"))).toEqual([]);
});
