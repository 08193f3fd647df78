import Docker from "dockerode";
import { afterAll, describe, expect, test } from "vitest";
import { dockerSandbox } from "../docker.ts";
import { createSandbox } from "../index.ts";
import { BORROWED, expectLeftOut, OWN } from "../lease/left-out-for-tests.ts";
import { leaseSuite } from "../testing.ts";
import { testEngine } from "./engine-for-tests.ts";

const { socketPath, plainImage } = await testEngine();
const timeoutMs = 600_000;
const engineTimeout = 600;

const own = leaseSuite(
  { describe, test },
  {
    name: "leases of containers",
    provider: () => dockerSandbox({ socketPath, image: plainImage, pull: false, engineTimeout }),
    timeoutMs,
    endsByItself: 3,
  },
);
expectLeftOut(own, OWN);

const owned = await new Docker({ socketPath }).createContainer({
  Image: plainImage,
  Cmd: ["sh", "-c", "mkdir -p /app /tmp; sleep 3600"],
  WorkingDir: "/etc",
  HostConfig: { NetworkMode: "none" },
});
await owned.start();
afterAll(() => owned.remove({ force: true }));

const borrowed = leaseSuite(
  { describe, test },
  {
    name: "leases of a container of the user's, in a directory of it",
    provider: () =>
      dockerSandbox({ socketPath, container: owned.id, engineTimeout, workingDirectory: "/app" }),
    timeoutMs,
    sharesFiles: true,
  },
);
expectLeftOut(borrowed, BORROWED);

test.each([
  [undefined, "/"],
  ["/app/", "/app"],
  ["/etc", "/etc"],
])(
  "with the working directory %j of the user's container commands start where the model is told they do",
  async (workingDirectory, told) => {
    const provider = dockerSandbox({ socketPath, container: owned.id, engineTimeout, workingDirectory });
    await using lease = await createSandbox({ provider }).lease();
    expect(lease.sandbox.workingDirectory).toBe(told);
    expect((await lease.sandbox.execute("pwd")).output.trim()).toBe(told);
    const name = `note${told.replaceAll("/", "-")}.txt`;
    await lease.sandbox.write(`${told}/${name}`, "here\n");
    expect((await lease.sandbox.execute(`cat ${name}`)).output).toBe("here\n");
  },
);

test("a working directory that the user's container does not have is named", async () => {
  const provider = dockerSandbox({
    socketPath,
    container: owned.id,
    engineTimeout,
    workingDirectory: "/nowhere",
  });
  await expect(provider.open({ key: "nowhere", env: {} })).rejects.toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringMatching(/no directory '\/nowhere'.*`workingDirectory`/),
  });
});
