import { expect, it } from "vitest";
import { nodeOfRun } from "./open-commands.ts";

it.each([
  "/home/me/.nvm/versions/node/v22.11.0/bin/node",
  "/home/me/.local/share/mise/installs/node/22/bin/node",
  "/opt/node-v20.19.0-linux-x64/bin/node",
])("commands can use the Node of a version manager: %s", (program) => {
  const home = program.replace(/\/bin\/node$/, "");
  expect(nodeOfRun(program)).toEqual({
    visible: [home],
    env: { PATH: expect.stringMatching(new RegExp(`^${home}/bin:/usr/local/sbin:`)) },
  });
});

it.each([
  "/usr/bin/node",
  "/usr/local/bin/node",
  "/home/me/bin/node",
  "/home/me/.local/bin/node",
  "/bin/node",
])("nothing else becomes visible for it: %s", (program) => {
  expect(nodeOfRun(program)).toEqual({});
});
