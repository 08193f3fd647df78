import { describe, expect, it, vi } from "vitest";
import { createDeepAgent } from "../agent.ts";
import { ConfigurationError } from "../errors.ts";
import { scriptedModel } from "../testing/index.ts";
import {
  checkPermissions,
  explainPermission,
  type FilesystemOperation,
  type FilesystemPermission,
  type PermissionMode,
} from "./rules.ts";
import { permissionWarnings } from "./warnings.ts";

const rule = (
  mode: PermissionMode,
  paths: string | string[],
  operations: FilesystemOperation[] = ["read", "write"],
): FilesystemPermission => ({ operations, paths: [paths].flat(), mode });

const modeOf = (rules: FilesystemPermission[], path: string, operation: FilesystemOperation = "read") =>
  explainPermission(rules, path, operation).mode;

describe("one rule", () => {
  const table: readonly [pattern: string, path: string, fits: boolean][] = [
    ["/secrets/**", "/secrets", true],
    ["/secrets/**", "/secrets/", true],
    ["/secrets/**", "/secrets/a", true],
    ["/secrets/**", "/secrets/a/b/.c", true],
    ["/secrets/**", "/secretsX/a", false],
    ["/secrets/**", "/secrets.txt", false],
    ["/secrets/**", "/a/secrets/b", false],
    ["/secrets/**", "/Secrets/a", false],
    ["/secrets", "/secrets", true],
    ["/secrets", "/secrets/key.txt", true],
    ["/secrets", "/secretsX", false],
    ["/secrets/", "/secrets/key.txt", true],
    ["/secrets/", "/secrets", true],
    ["//secrets//./**", "/secrets/a", true],
    ["/**", "/", true],
    ["/**", "/a", true],
    ["/", "/a/b", true],
    ["/*", "/a", true],
    ["/*", "/", false],
    ["/*", "/a/b", false],
    ["/a/*", "/a", false],
    ["/a/*", "/a/b", true],
    ["/a/*", "/a/b/c", false],
    ["/a/**/*", "/a", false],
    ["/a/**/*", "/a/b/c", true],
    ["/**/.env", "/.env", true],
    ["/**/.env", "/a/b/.env", true],
    ["/**/.env", "/a/.env.local", false],
    ["/**/.env*", "/a/.env.local", true],
    ["/**/*.{key,pem}", "/a/server.pem", true],
    ["/**/*.{key,pem}", "/a/server.pen", false],
    ["/{a,b}/**", "/a", true],
    ["/{a,b}/**", "/b/c", true],
    ["/{a,b}/**", "/c", false],
    ["/data-[0-9]/**", "/data-7/x", true],
    ["/data-[0-9]/**", "/data-x/x", false],
    ["/data-[!0-9]/**", "/data-x", true],
    ["/file?.txt", "/file1.txt", true],
    ["/file?.txt", "/file10.txt", false],
    ["/**/secrets/**", "/a/b/secrets", true],
    ["/**/secrets/**", "/a/b/secrets/c", true],
    ["/**/secrets/**", "/secrets/c", true],
    ["/a\\*b", "/a*b", true],
    ["/a\\*b", "/axb", false],
    ["/caf\u00e9/**", "/cafe\u0301/x", true],
    ["/a b/**", "/a b/c", true],
    ["/a/.git/**", "/a/.git/config", true],
    ["/__proto__/**", "/__proto__/x", true],
  ];
  it.each(table)("%s on %s: %s", (pattern, path, fits) => {
    expect(modeOf([rule("deny", pattern)], path)).toBe(fits ? "deny" : "allow");
  });

  it("holds for its operations only", () => {
    const rules = [rule("deny", "/a", ["write"])];
    expect(modeOf(rules, "/a", "write")).toBe("deny");
    expect(modeOf(rules, "/a", "read")).toBe("allow");
  });

  it("allows where it names no mode, or null", () => {
    for (const mode of [undefined, null]) {
      const open: FilesystemPermission = {
        operations: ["read"],
        paths: ["/a/**"],
        ...(mode === null && { mode }),
      };
      expect(modeOf([open, rule("deny", "/**")], "/a/b")).toBe("allow");
    }
  });
});

describe("PM-06 the first rule that fits decides", () => {
  it("PM-06 allow then deny: the allowed part stays open", () => {
    const rules = [rule("allow", "/w/pub/**"), rule("deny", "/w/**")];
    expect(modeOf(rules, "/w/pub/a")).toBe("allow");
    expect(modeOf(rules, "/w/a")).toBe("deny");
    expect(modeOf(rules, "/x")).toBe("allow");
    expect(permissionWarnings(rules)).toEqual([]);
  });

  it("PM-06 deny then allow: the later rule opens nothing, and a warning says so", () => {
    const rules = [rule("deny", "/w/**"), rule("allow", "/w/pub/**")];
    expect(modeOf(rules, "/w/pub/a")).toBe("deny");
    expect(permissionWarnings(rules)).toMatchObject([{ code: "UNREACHABLE_RULE", index: 1 }]);
  });

  it("a list in the wrong order protects nothing, and the agent says so on the console once", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const permissions = [rule("allow", "/workspace/**"), rule("deny", "/workspace/.env")];
    const agent = createDeepAgent({ model: scriptedModel([]), permissions });
    expect(agent.explain("/workspace/.env", "read").mode).toBe("allow");
    expect(warn.mock.calls.flat()).toEqual([expect.stringContaining("(UNREACHABLE_RULE)")]);
    warn.mockRestore();
  });

  const unreachable: readonly [string, FilesystemPermission[], number[]][] = [
    ["a file in an open tree", [rule("allow", "/w/**"), rule("deny", "/w/a/.env")], [1]],
    ["a pattern in a closed tree", [rule("deny", "/**"), rule("allow", "/w/*.md")], [1]],
    ["the same twice", [rule("deny", "/**/.env"), rule("allow", "/**/.env")], [1]],
    ["one of two paths", [rule("allow", "/w/**"), rule("deny", ["/w/x", "/y"])], [1]],
    ["other operations", [rule("allow", "/w/**", ["read"]), rule("deny", "/w/x", ["write"])], []],
    ["one of two operations", [rule("allow", "/w/**", ["read"]), rule("deny", "/w/x")], []],
    [
      "each operation by another rule",
      [rule("allow", "/w/**", ["read"]), rule("allow", "/**", ["write"]), rule("deny", "/w/x")],
      [2],
    ],
    ["a name that looks alike", [rule("allow", "/w/**"), rule("deny", "/ws/x")], []],
    ["the right order", [rule("deny", "/w/.env"), rule("allow", "/w/**"), rule("deny", "/**")], []],
  ];
  it.each(unreachable)("a rule that never matches is warned about: %s", (_, rules, expected) => {
    expect(permissionWarnings(rules).map(({ index }) => index)).toEqual(expected);
  });
});

describe("PM-08 rules that cannot mean what they say", () => {
  const bad: readonly [string, unknown][] = [
    ["no list", {}],
    ["text for a list", "deny all"],
    ["no rule", [null]],
    ["a list for a rule", [[]]],
    ["a relative path", [rule("deny", "secrets/**")]],
    ["a home directory", [rule("deny", "/~/x")]],
    ["a path that climbs", [rule("deny", "/a/../b")]],
    ["a wild path that climbs", [rule("deny", "/a/**/../b")]],
    ["a path that climbs in braces", [rule("deny", "/{a,..}/b")]],
    ["a home directory", [rule("deny", "~/x")]],
    ["a drive", [rule("deny", "C:\\secrets")]],
    ["a drive after a slash", [rule("deny", "/C:/secrets")]],
    ["an open bracket", [rule("deny", "/[abc/**")]],
    ["an open brace", [rule("deny", "/{a,b/**")]],
    ["a brace without its partner", [rule("deny", "/a}/**")]],
    ["braces without a comma", [rule("deny", "/{1..3}")]],
    ["a foreign form of glob", [rule("deny", "/+(a|b)")]],
    ["too many alternatives", [rule("deny", `/${"{a,b}".repeat(12)}`)]],
    ["a backslash at the end", [rule("deny", "/a\\")]],
    ["a control character", [rule("deny", "/a\nb")]],
    ["a control character beside a wildcard", [rule("deny", "/a\nb/**")]],
    ["an empty path", [rule("deny", "")]],
    ["a name that cannot be", [rule("deny", "/a./b")]],
    ["a path that is no text", [{ operations: ["read"], paths: [1] }]],
    ["an unknown operation", [{ operations: ["execute"], paths: ["/a"] }]],
    ["no operations", [{ operations: [], paths: ["/a"] }]],
    ["operations that are no list", [{ operations: "read", paths: ["/a"] }]],
    ["an unknown mode", [{ operations: ["read"], paths: ["/a"], mode: "block" }]],
    ["no paths", [{ operations: ["read"], paths: [] }]],
    ["paths that are no list", [{ operations: ["read"], paths: "/a" }]],
    ["an unknown key", [{ operations: ["read"], paths: ["/a"], path: "/b" }]],
  ];
  it.each(bad)("PM-08 %s is an error when the agent is made", (_, permissions) => {
    const make = () => createDeepAgent({ model: scriptedModel([]), permissions: permissions as never });
    expect(make).toThrow(ConfigurationError);
    expect(make).toThrow(expect.objectContaining({ code: "INVALID_PERMISSION" }));
    const ceiling = () =>
      createDeepAgent({ model: scriptedModel([]), permissionCeiling: permissions as never });
    expect(ceiling).toThrow(expect.objectContaining({ code: "INVALID_PERMISSION" }));
  });

  it("PM-08 a ceiling cannot ask anybody", () => {
    expect(() =>
      createDeepAgent({ model: scriptedModel([]), permissionCeiling: [rule("interrupt", "/a")] }),
    ).toThrow(expect.objectContaining({ code: "INVALID_PERMISSION" }));
  });

  it("null, undefined and an empty list are no rules", () => {
    for (const permissions of [null, undefined, []]) expect(checkPermissions(permissions)).toHaveLength(0);
  });

  it("what is done to the list afterwards changes nothing", () => {
    const paths = ["/a"];
    const rules = checkPermissions([{ operations: ["read"], paths, mode: "deny" }]);
    paths.length = 0;
    expect(explainPermission(rules, "/a", "read")).toMatchObject({ mode: "deny", rule: { paths: ["/a"] } });
  });
});

describe("explain", () => {
  const rules = [rule("deny", "/workspace/.env"), rule("allow", "/workspace/**"), rule("deny", "/**")];

  it("names the rule that decides, and its place", () => {
    expect(explainPermission(rules, "/workspace/./.env", "write")).toMatchObject({
      mode: "deny",
      index: 0,
      rule: rules[0],
      reason: expect.stringContaining("Rule 1 of 3"),
    });
    expect(explainPermission(rules, "/workspace/a", "write")).toMatchObject({ mode: "allow", index: 1 });
  });

  it("says so where no rule fits", () => {
    const { rule: found, index, mode, reason } = explainPermission([], "/a", "read");
    expect({ found, index, mode }).toEqual({ found: undefined, index: undefined, mode: "allow" });
    expect(reason).toContain("No rule fits");
  });

  it("tells that a listing of a closed directory shows what is open below it", () => {
    expect(explainPermission(rules, "/", "read").reason).toContain("shows what below it is allowed");
    expect(explainPermission(rules, "/etc", "read").reason).not.toContain("below");
  });

  const ways: readonly [string, FilesystemPermission[], string, boolean][] = [
    ["all is closed", [rule("deny", "/**")], "/", false],
    ["one of the paths is the directory", [rule("deny", ["/x", "/a/**"])], "/a", false],
    ["only some names are closed", [rule("deny", "/**/.env")], "/.env", true],
    ["what is open lies elsewhere", [rule("allow", "/z/**"), rule("deny", "/a/**")], "/a", false],
    [
      "names are closed, and a tree elsewhere is open",
      [rule("allow", "/z/**"), rule("deny", "/**/.env")],
      "/.env",
      true,
    ],
    [
      "one of two open trees lies there",
      [rule("allow", ["/z/**", "/a/b/**"]), rule("deny", "/**")],
      "/a",
      true,
    ],
    ["writing is open there", [rule("allow", "/a/**", ["write"]), rule("deny", "/**")], "/a", false],
    [
      "writing is closed there",
      [rule("deny", "/**", ["write"]), rule("deny", "/a/*", ["read"])],
      "/a/b",
      true,
    ],
  ];
  it.each(ways)("tells of open places below only where there may be some: %s", (_, given, path, isWay) => {
    const { mode, reason } = explainPermission(given, path, "read");
    expect(mode).toBe("deny");
    expect(reason.includes("shows what below it is allowed")).toBe(isWay);
  });

  it("a path that is none is refused, and an operation that is none is an error", () => {
    expect(explainPermission([], "/a/../b", "read")).toMatchObject({ mode: "deny" });
    expect(() => explainPermission([], "/a", "execute" as never)).toThrow(ConfigurationError);
  });

  it("is there on the agent", () => {
    const agent = createDeepAgent({ model: scriptedModel([]), permissions: rules });
    expect(agent.explain("/etc/passwd", "read")).toMatchObject({ mode: "deny", index: 2 });
    expect(createDeepAgent({ model: scriptedModel([]) }).explain("/a", "write").mode).toBe("allow");
  });
});
