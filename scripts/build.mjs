// Makes publishable packages: ESM and type declarations in each package's dist, without tests.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";

const packages = ["packages/core", "packages/cli"];

for (const dir of packages) {
  rmSync(join(dir, "dist"), { recursive: true, force: true });
  const { status } = spawnSync(
    join("node_modules", ".bin", "tsc"),
    ["-p", join(dir, "tsconfig.build.json")],
    {
      stdio: "inherit",
    },
  );
  if (status !== 0) process.exit(status ?? 1);
  const bin = join(dir, "dist", "main.js");
  if (existsSync(bin)) chmodSync(bin, 0o755);
  console.log(`built ${dir}/dist`);
}
