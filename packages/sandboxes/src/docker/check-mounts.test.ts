import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { dockerSandbox } from "../docker.ts";
import { checkMounts } from "./check-mounts.ts";
import { testEngine } from "./engine-for-tests.ts";

const line = (root: string, place: string, device = "8:1"): string =>
  `1 2 ${device} ${root} ${place} rw,relatime - ext4 /dev/sda rw`;

it("what is mounted in the workspace must be of the workspace, all of it", () => {
  const top = line("/home/me/project", "/workspace");
  const git = line("/home/me/project/.git", "/workspace/.git");
  const check = (lines: string[], count: number) => () => checkMounts(lines.join("\n"), "/workspace", count);
  expect(check([line("/", "/"), top], 0)).not.toThrow();
  expect(check([line("/", "/"), top, git, line("/", "/workspaces")], 1)).not.toThrow();
  expect(check([line("/", "/workspace"), line("/.git", "/workspace/.git")], 1)).not.toThrow();
  for (const wrong of [
    [top],
    [git],
    [top, git, git],
    [top, line("/root/.ssh", "/workspace/.git")],
    [top, line("/home/me/project2/.git", "/workspace/.git")],
    [top, line("/home/me/project/.git", "/workspace/.git", "8:2")],
    // It followed a link to another place.
    [top, line("/home/me/project/.git", "/etc")],
  ])
    expect(check(wrong, 1), wrong.join("\n")).toThrow(/exchanged while they were mounted/);
});

it("SB-13 a container into which something else was mounted is refused, and nothing is left of it", async () => {
  const engine = await testEngine();
  const directory = mkdtempSync(join(tmpdir(), "deepwright-mounts-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const [workspace, outside] = [join(directory, "workspace"), join(directory, "outside")];
  mkdirSync(join(workspace, ".vscode"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(outside, "secret"), "SECRET");
  // Between the look at the directory and the mount, as a command in another container could.
  const exchange = (): void => {
    renameSync(join(workspace, ".vscode"), join(workspace, "before"));
    symlinkSync(outside, join(workspace, ".vscode"));
  };
  const socketPath = join(directory, "engine.sock");
  const server = createServer((client) => {
    const real = connect(engine.socketPath);
    client.on("data", (bytes) => {
      if (/^POST \S*\/containers\/\w+\/start/.test(bytes.toString("latin1"))) exchange();
      real.write(bytes);
    });
    real.pipe(client);
    for (const [one, other] of [
      [client, real],
      [real, client],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  onTestFinished(() => void server.close());
  const provider = dockerSandbox({
    socketPath,
    image: engine.plainImage,
    pull: false,
    engineTimeout: 600,
    workspace: { directory: workspace },
    user: 0,
  });
  const opening = provider.open({ key: "exchanged", env: {} });
  await expect(
    opening.then(async ({ sandbox, destroy }) => {
      const { output } = await sandbox.execute("cat .vscode/secret");
      await destroy();
      return output;
    }),
  ).rejects.toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  expect(await provider.find?.("exchanged")).toEqual([]);
  expect(readdirSync(outside)).toEqual(["secret"]);
});
