import { describe, expect, it } from "vitest";
import { rule } from "./backends-for-tests.ts";
import { closedPaths } from "./closed-paths.ts";
import { checkPermissions, type FilesystemPermission } from "./rules.ts";

const closedBy = (permissions: readonly FilesystemPermission[]) =>
  closedPaths(checkPermissions(permissions), "/w", ({ literal }) => literal !== "/memories");

describe("the paths that are closed for commands", () => {
  it("are hidden where reading is denied, and read-only where writing alone is", () => {
    const rules = [rule("deny", "/w/secrets/**"), rule("deny", ["/w/policies", "/w/a/b/**"], ["write"])];
    expect(closedBy(rules)).toEqual({ hidden: ["/w/secrets"], readOnly: ["/w/policies", "/w/a/b"] });
  });

  it("are not about files that commands do not reach", () => {
    expect(closedBy([rule("interrupt", "/memories/**")])).toEqual({ hidden: [], readOnly: [] });
  });

  it.each<[string, FilesystemPermission[]]>([
    ["that is open elsewhere", [rule("allow", "/w/open/**"), rule("deny", "/w/secrets/**")]],
    ["that is open for reading", [rule("allow", "/w/x/**", ["read"]), rule("deny", "/w/x/**", ["write"])]],
    ["with a closed one in it", [rule("deny", "/w/x/y"), rule("deny", "/w/x/**")]],
    ["that is opened too late", [rule("deny", "/w/x/**"), rule("allow", "/w/x/y")]],
  ])("may be a directory %s", (_, rules) => {
    expect(closedBy(rules)).not.toHaveProperty("problem");
  });

  it.each<[string, FilesystemPermission[]]>([
    [
      "permissions[1] (deny: '/w/x/**') cannot be kept for commands: permissions[0] allows something in it.",
      [rule("allow", "/w/x/y"), rule("deny", "/w/x/**")],
    ],
    [
      "permissions[1] (deny: '/w/x') cannot be kept for commands: permissions[0] allows something in it.",
      [rule("allow", "/w/*"), rule("deny", "/w/x")],
    ],
    [
      "permissions[0] (interrupt: '/w/x') cannot be kept for commands: a command cannot wait for a person.",
      [rule("interrupt", "/w/x")],
    ],
    [
      "permissions[0] (deny: '/w/*.pem') cannot be kept for commands: only a path, or a directory followed by '/**', can be closed.",
      [rule("deny", "/w/*.pem")],
    ],
    [
      "permissions[0] (deny: '/w/**') cannot be kept for commands: only what lies below '/w' can be closed.",
      [rule("deny", "/w/**")],
    ],
    [
      "permissions[0] (deny: '/**') cannot be kept for commands: only what lies below '/w' can be closed.",
      [rule("deny", "/**")],
    ],
    [
      "permissions[0] (deny: '/elsewhere') cannot be kept for commands: only what lies below '/w' can be closed.",
      [rule("deny", "/elsewhere")],
    ],
  ])("%s", (problem, rules) => {
    expect(closedBy(rules)).toEqual({ problem });
  });
});
