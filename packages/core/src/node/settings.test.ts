import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createSettings, findProjectRoot } from "./settings.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "deepwright-settings-")));
  mkdirSync(join(root, "project/src/deep"), { recursive: true });
  mkdirSync(join(root, "project/.git"));
  vi.stubEnv("DEEPWRIGHT_HOME", join(root, "home"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

describe("findProjectRoot", () => {
  it("is the nearest directory upwards that holds .git, be it a file", () => {
    expect(findProjectRoot(join(root, "project/src/deep"))).toBe(join(root, "project"));
    writeFileSync(join(root, "project/src/.git"), "gitdir: elsewhere");
    expect(findProjectRoot(join(root, "project/src/deep"))).toBe(join(root, "project/src"));
    expect(findProjectRoot(join(root, "project"))).toBe(join(root, "project"));
  });

  it("is null outside a project, and begins in the current directory", () => {
    expect(findProjectRoot("/")).toBeNull();
    expect(findProjectRoot()).toBe(findProjectRoot(process.cwd()));
  });
});

describe("createSettings", () => {
  it("names the places of a project and of the user, and makes none of them", () => {
    const settings = createSettings({ startPath: join(root, "project/src") });
    expect(settings).toMatchObject({ projectRoot: join(root, "project"), hasProject: true });
    expect(settings.userDeepagentsDir).toBe(join(root, "home"));
    expect(settings.getAgentDir("coder")).toBe(join(root, "home/coder"));
    expect(settings.getUserAgentMdPath("coder")).toBe(join(root, "home/coder/agent.md"));
    expect(settings.getUserSkillsDir("coder")).toBe(join(root, "home/coder/skills"));
    expect(settings.getProjectAgentMdPath()).toBe(join(root, "project/.deepwright/agent.md"));
    expect(settings.getProjectSkillsDir()).toBe(join(root, "project/.deepwright/skills"));
    expect(() => statSync(join(root, "home"))).toThrow("ENOENT");
    expect(() => statSync(join(root, "project/.deepwright"))).toThrow("ENOENT");
  });

  it("makes what is asked for", () => {
    const settings = createSettings({ startPath: join(root, "project") });
    for (const path of [
      settings.ensureAgentDir("coder"),
      settings.ensureUserSkillsDir("coder"),
      settings.ensureProjectDeepagentsDir(),
      settings.ensureProjectSkillsDir(),
      settings.ensureProjectSkillsDir(),
    ])
      expect(statSync(path as string).isDirectory()).toBe(true);
  });

  it("outside a project there are no places of one", () => {
    const settings = createSettings({ startPath: "/" });
    expect(settings).toMatchObject({ projectRoot: null, hasProject: false });
    expect(settings.getProjectAgentMdPath()).toBeNull();
    expect(settings.getProjectSkillsDir()).toBeNull();
    expect(settings.ensureProjectSkillsDir()).toBeNull();
    expect(settings.ensureProjectDeepagentsDir()).toBeNull();
  });

  it("the directories may have another name", () => {
    const settings = createSettings({ startPath: join(root, "project"), directoryName: ".agents" });
    expect(settings.getProjectSkillsDir()).toBe(join(root, "project/.agents/skills"));
    expect(settings.userDeepagentsDir).toBe(join(homedir(), ".agents"));
  });

  it.each(["", "..", "../x", "a/b", "a\\b", ".hidden", "end.", "end ", "nul\0", "x".repeat(101)])(
    "an agent cannot be called %j",
    (name) => {
      const settings = createSettings({ startPath: root });
      expect(() => settings.getAgentDir(name)).toThrow("cannot be the name of an agent");
      expect(() => settings.ensureUserSkillsDir(name)).toThrow("cannot be the name of an agent");
    },
  );

  it("unknown options and names that are paths are refused", () => {
    expect(() => createSettings({ start: "/" } as never)).toThrow("no option 'start'");
    expect(() => createSettings({ directoryName: "a/b" })).toThrow("must be one name");
  });
});
