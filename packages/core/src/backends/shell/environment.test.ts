import { expect, test } from "vitest";
import { commandEnvironment } from "./environment.ts";

const own = {
  PATH: "/bin",
  HOME: "/home/me",
  LC_ALL: "C",
  API_KEY: "secret",
  TERM: "xterm",
  GONE: undefined,
};

test("a command sees names that carry no secrets, and what was added", () => {
  expect(commandEnvironment({ env: { MINE: "1", HOME: "/other" } }, own)).toEqual({
    PATH: "/bin",
    HOME: "/other",
    LC_ALL: "C",
    TERM: "dumb",
    MINE: "1",
  });
});

test("there is a PATH in any case, and a terminal that can do nothing", () => {
  expect(commandEnvironment({}, {})).toEqual({ PATH: expect.stringContaining("/usr/bin:"), TERM: "dumb" });
});

test("everything is inherited on request", () => {
  expect(commandEnvironment({ inheritEnv: true, env: null }, own)).toEqual({
    PATH: "/bin",
    HOME: "/home/me",
    LC_ALL: "C",
    API_KEY: "secret",
    TERM: "dumb",
  });
});
