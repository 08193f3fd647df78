import { expect, it } from "vitest";
import { seatbeltProfile } from "./seatbelt.ts";

const policy = {
  workspace: '/Users/me/my "work"',
  temporary: "/private/tmp/lease/tmp",
  visible: ["/opt/tools"],
  readOnly: ["policies"],
  hidden: [".env"],
  protectsControlFiles: true,
  controlPaths: ["tools/server.js"],
};

/** The last rule about an operation that names the path's filter decides. */
function rules(profile: string): string[] {
  return profile.split(/\n(?=\()/);
}

it("denies what it does not name, and the network last", () => {
  const profile = seatbeltProfile(policy);
  expect(rules(profile).slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  expect(rules(profile).at(-1)?.trim()).toBe("(deny network*)");
  expect(profile).not.toMatch(/allow (network|mach|iokit|ipc|file-write\*)[^\n]*\)$/m);
});

it("allows to write the workspace and the temporary files alone", () => {
  const writable = rules(seatbeltProfile(policy)).filter((text) => text.startsWith("(allow file-write"));
  expect(writable).toEqual([
    '(allow file-write*\n  (subpath "/Users/me/my \\"work\\"")\n  (subpath "/private/tmp/lease/tmp"))',
    '(allow file-write-data\n  (literal "/dev/null")\n  (literal "/dev/zero")\n  (literal "/dev/dtracehelper"))',
  ]);
});

it("reads no home and no key", () => {
  const readable =
    rules(seatbeltProfile(policy)).filter((text) => text.startsWith("(allow file-read*"))[0] ?? "";
  expect(readable).not.toMatch(/subpath "\/(Users|private|etc|var|Volumes|Library)?"\)/);
  expect(readable).toContain('(subpath "/opt/tools")');
});

it("SB-03 forbids files that steer other programs after all that is allowed, in any case, whether they exist or not", () => {
  const parts = rules(seatbeltProfile(policy));
  const denied = parts.findIndex((text) => text.startsWith("(deny file-write*"));
  expect(denied).toBeGreaterThan(parts.findLastIndex((text) => text.startsWith("(allow file-write")));
  const patterns = [...(parts[denied] ?? "").matchAll(/#"(.*)"\)/g)].map(
    ([, text]) => new RegExp(text as string),
  );
  const isDenied = (path: string): boolean =>
    patterns.some((pattern) => pattern.test(`${policy.workspace}/${path}`));
  for (const path of [
    ".git",
    ".git/config",
    ".GIT/hooks/pre-commit",
    "sub/.git/hooks/x",
    ".vscode/tasks.json",
    ".Claude/x",
    ".bashrc",
    "a/.mcp.json",
    ".deepwright/config.json",
  ])
    expect(isDenied(path), path).toBe(true);
  for (const path of [".git/index", ".git/objects/ab/cd", "src/main.ts", "config", "hooks/x", "package.json"])
    expect(isDenied(path), path).toBe(false);
});

it("forbids what is read-only and hides what is hidden", () => {
  const profile = seatbeltProfile(policy);
  expect(profile).toContain('(deny file-write*\n  (subpath "/Users/me/my \\"work\\"/policies"))');
  expect(profile).toMatch(/\(deny file-write\*\n(?: .*\n)* {2}\(subpath "[^\n]*\/tools\/server\.js"\)\)/);
  expect(profile).toContain('(deny file-read* file-write*\n  (subpath "/Users/me/my \\"work\\"/.env"))');
});

it("opens the way to the proxy and to nothing else", () => {
  const profile = seatbeltProfile({ ...policy, proxySocket: "/private/tmp/x/socket" });
  expect(
    rules(profile)
      .slice(-2)
      .map((text) => text.trim()),
  ).toEqual([
    "(deny network*)",
    '(allow network-outbound\n  (remote unix-socket (path-literal "/private/tmp/x/socket")))',
  ]);
});
