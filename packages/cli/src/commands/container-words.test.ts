import { chown } from "node:fs/promises";
import { expect, it } from "vitest";
import { directoryWith } from "../test-support/run-binary.ts";
import { containerWords } from "./container-words.ts";

const MESSAGE =
  "The user 1000:1000 of the container cannot write to the workspace. Give the directory to that user, or name another with `user`.";

it("names no option that the command line does not have", () => {
  const words = [
    "There is no container engine. Start it, or name the socket with `socketPath` or DOCKER_HOST.",
    "The engine has no image 'x'. Pull it (docker pull x), build it, or name another with `image`.",
    "The container engine did not answer in time. Is it overloaded? `engineTimeout` gives it longer.",
  ].map((message) => containerWords(message, "/"));
  expect(words.join("\n")).toBe(
    [
      "There is no container engine. Start it, or name the socket with DOCKER_HOST.",
      "The engine has no image 'x'. Pull it (docker pull x), build it, or name another with --sandbox docker:IMAGE.",
      "The container engine did not answer in time. Is it overloaded?",
    ].join("\n"),
  );
});

it("says what to do where the directory cannot be written to from a container", async () => {
  const directory = await directoryWith({});
  if (process.getuid?.() === 0) {
    expect(containerWords(MESSAGE, directory)).toContain("it belongs to root");
    await chown(directory, 1000, 1000);
  }
  const words = containerWords(MESSAGE, directory);
  expect(words).toContain(`cannot write to ${directory}: its owner may not. Change its mode, or`);
  const rootless = containerWords(
    `${MESSAGE} The engine is rootless. In a container, \`user: 0\` is it.`,
    directory,
  );
  expect(rootless).toContain(
    "the engine is rootless, and the user it runs as may not. Give the directory to",
  );
  expect(words + rootless).not.toContain("`user");
});
