/** The sandbox as other users have it, and on machines that lack something. */
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { ESCAPES, failing, makeOutside, tries } from "./escape-attempts-for-tests.ts";
import { findProgram } from "./find-program.ts";
import { AS_USER, after, directoryOfUser, isRoot, onMachine, USER } from "./machine-for-tests.ts";
import { scratchDirectory } from "./os-for-tests.ts";

/** Root of a user namespace that such a user has made, as in a container without rights. */
const AS_ROOT_OF_USER = [...AS_USER, "unshare", "-U", "-r"];

const BLOCKED = expect.stringMatching(/^\['\.bashrc' was created while the command ran/);
const READ_ONLY = expect.stringMatching(/Read-only file system\n\[exit 1\]$/);

it.each([
  ["an ordinary user", AS_USER],
  ["root of a user namespace", AS_ROOT_OF_USER],
])(
  "for %s it opens on a private directory and on one of theirs, control files are closed and no command gets out",
  async (_, before) => {
    const outside = makeOutside(USER);
    onTestFinished(() => outside.end());
    const rootDir = directoryOfUser();
    const stateDir = directoryOfUser();
    const commands = ["id -u; cat /proc/net/dev | wc -l", "echo x > made && cat made", "echo x > .bashrc"];
    mkdirSync(join(rootDir, ".vscode"));
    const protecting = directoryOfUser();
    mkdirSync(join(protecting, ".vscode"));
    const escapes = ESCAPES.map(([, attempts]) => tries(...attempts(outside)));
    const [name, value] = outside.secret;
    const [own, others, tried, nested] = await onMachine(
      before,
      [
        { options: { rootDir, stateDir }, commands: [...commands, "echo x > .vscode/x"] },
        { options: { stateDir }, commands },
        { options: { rootDir: directoryOfUser(), stateDir }, commands: escapes },
        { options: { rootDir: protecting, stateDir }, commands: escapes },
      ],
      { [name]: value },
    );
    expect(own).toEqual({ outputs: ["1000\n3\n", "x\n", BLOCKED, READ_ONLY] });
    expect(readdirSync(rootDir).filter((name) => !name.includes(".blocked-"))).toEqual([".vscode", "made"]);
    expect(statSync(join(rootDir, "made")).uid).toBe(USER);
    expect(others).toEqual({ outputs: ["1000\n3\n", "x\n", ""] });
    for (const answer of [tried, nested]) {
      expect(answer?.message).toBeUndefined();
      const out = ESCAPES.map(([attempt], index) => [attempt, failing(answer?.outputs[index] ?? "")]);
      expect(out.filter(([, reason]) => reason !== undefined)).toEqual([]);
    }
    expect(outside.pids.filter((pid) => !existsSync(`/proc/${pid}`))).toEqual([]);
    expect(readdirSync(join(stateDir, "leases"))).toEqual([]);
  },
);

it("SB-08 without user namespaces it is refused with what can be done, and no command is run", async () => {
  const rootDir = directoryOfUser();
  const stateDir = directoryOfUser();
  const words = [...AS_ROOT_OF_USER, ...after("echo 0 > /proc/sys/user/max_user_namespaces")];
  const answers = await onMachine(words, [
    { options: { rootDir, stateDir }, commands: ["touch ran"] },
    { options: { stateDir }, commands: ["touch ran"] },
  ]);
  const refused = {
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringMatching(/namespace.*sysctl user\.max_user_namespaces.*docker/),
  };
  expect(answers).toMatchObject([refused, refused]);
  expect(readdirSync(rootDir)).toEqual([]);
});

it("SB-08 where bubblewrap is not installed it is refused with what can be done, and no command is run", async () => {
  const [rootDir, aside] = [directoryOfUser(), directoryOfUser()];
  const bwrap = findProgram("bwrap", []).path ?? "";
  const withoutIt = [
    `mount -t tmpfs none ${aside}`,
    `mkdir ${aside}/upper ${aside}/work`,
    `mount -t overlay none -o userxattr,lowerdir=${dirname(bwrap)},upperdir=${aside}/upper,workdir=${aside}/work ${dirname(bwrap)}`,
    `rm ${bwrap}`,
  ];
  const task = { options: { rootDir, stateDir: directoryOfUser() }, commands: ["touch ran"] };
  const [answer] = await onMachine([...AS_ROOT_OF_USER, "-m", ...after(withoutIt.join(" && "))], [task]);
  expect(answer).toMatchObject({
    code: "SANDBOX_UNAVAILABLE",
    message: expect.stringMatching(/bubblewrap is not installed\. .*apt install bubblewrap.*docker/),
  });
  expect(readdirSync(rootDir)).toEqual([]);
});

describe.runIf(isRoot)("for root, on a directory of root's", () => {
  const withoutDevices = (path: string): string => `mount -t tmpfs -o nosuid,nodev,mode=1777 none ${path}`;

  it("it works where temporary files are on a file system without devices", async () => {
    const place = scratchDirectory();
    const options = { rootDir: scratchDirectory(), stateDir: join(place, "state") };
    const known = devicesElsewhere();
    const commands = ["echo x > /dev/null; head -c 3 /dev/zero | wc -c"];
    const words = ["unshare", "-m", ...after(withoutDevices(place))];
    expect(await onMachine(words, [{ options, commands }])).toEqual([{ outputs: ["3\n"] }]);
    expect(devicesElsewhere()).toEqual(known);
  });

  it("it is refused with what can be done where no place has devices", async () => {
    const place = scratchDirectory();
    const words = ["unshare", "-m", ...after(`${withoutDevices(place)} && ${withoutDevices("/var/lib")}`)];
    const options = { rootDir: scratchDirectory(), stateDir: join(place, "state") };
    const [answer] = await onMachine(words, [{ options, commands: ["true"] }]);
    expect(answer).toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(/mounted with nodev.*Set stateDir.*docker/),
    });
  });

  it("it is refused without the right to make devices, and commands in a private directory are nobody's", async () => {
    const words = ["setpriv", "--bounding-set", "-mknod", "--inh-caps", "-mknod"];
    const stateDir = scratchDirectory();
    chmodSync(stateDir, 0o711);
    const [refused, works] = await onMachine(words, [
      { options: { rootDir: scratchDirectory(), stateDir }, commands: ["true"] },
      { options: { stateDir }, commands: ["echo works"] },
    ]);
    expect(refused).toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      message: expect.stringMatching(/Operation not permitted.*CAP_MKNOD.*another user's.*docker/),
    });
    expect(works).toEqual({ outputs: ["works\n"] });
  });
});

/** Where devices of sandboxes are that have none in their own directory. */
function devicesElsewhere(): string[] {
  return existsSync("/var/lib/deepwright-os") ? readdirSync("/var/lib/deepwright-os") : [];
}
