/**
 * Control files steer other programs: a shell, git, an editor, an agent or a CI service runs or obeys their content
 * without a look by a person. A person has to approve a write, whether they exist or not.
 *
 * `.gitmodules`, `.gitattributes` and `.npmrc` count: they name commands or sources of code. So do CI definitions,
 * which run with the keys of a project after a push. `package.json`, lock files and makefiles do not: they are the work
 * itself, change with every task, and run when a person runs them.
 */

/** Directories, wherever they are, with all that lies in them; `.git` may also be a file that names one. */
const DIRECTORIES = new Set([
  ".git",
  "git~1",
  ".vscode",
  ".idea",
  ".fleet",
  ".zed",
  ".cursor",
  ".windsurf",
  ".claude",
  ".codex",
  ".gemini",
  ".continue",
  ".devcontainer",
  ".husky",
  ".direnv",
  ".ssh",
  ".gnupg",
  // CI, with what it includes
  ".github",
  ".gitlab",
  ".gitea",
  ".forgejo",
  ".circleci",
  ".buildkite",
  ".woodpecker",
  ".semaphore",
  ".azure-pipelines",
  ".tekton",
]);

/** Names of files, wherever they are. */
const FILES = new Set([
  // shells
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".kshrc",
  ".cshrc",
  ".tcshrc",
  ".login",
  ".inputrc",
  ".envrc",
  ".xprofile",
  ".xsessionrc",
  // git and package managers
  ".gitconfig",
  ".gitmodules",
  ".gitattributes",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pypirc",
  ".netrc",
  // agents, tools and their servers
  ".mcp.json",
  ".vimrc",
  ".exrc",
  ".nvimrc",
  ".nvim.lua",
  ".cursorrules",
  ".windsurfrules",
  ".pre-commit-config.yaml",
  // CI
  ".gitlab-ci.yml",
  ".gitlab-ci.yaml",
  ".travis.yml",
  ".drone.yml",
  ".drone.yaml",
  ".drone.star",
  ".woodpecker.yml",
  ".woodpecker.yaml",
  ".cirrus.yml",
  ".cirrus.star",
  ".appveyor.yml",
  "appveyor.yml",
  "azure-pipelines.yml",
  "azure-pipelines.yaml",
  "bitbucket-pipelines.yml",
  "jenkinsfile",
  "buildspec.yml",
  "buildspec.yaml",
  "cloudbuild.yaml",
  "cloudbuild.yml",
  "wercker.yml",
  "codefresh.yml",
  ".mergify.yml",
]);

/** The directory of the harness, for its settings and for content moved out of conversations. */
const OWN = ".deepwright";
const OWN_AREA = /^\/\.deepwright\/(?:\.gitignore|(?:large_tool_results|conversation_history)\/.+)$/s;

/** The names in lower case, for places that shut them by other means than judging paths; the harness's own is among them. */
export const CONTROL_NAMES: {
  readonly directories: ReadonlySet<string>;
  readonly files: ReadonlySet<string>;
} = { directories: new Set([...DIRECTORIES, OWN]), files: FILES };

/** Judges a canonical path by its names alone, ignoring case as some disks do. */
export function isControlPath(path: string): boolean {
  const names = lenientSpelling(path).split("/").slice(1);
  return names.some((name, index) => {
    if (DIRECTORIES.has(name) || name === OWN) return true;
    return index === names.length - 1 && FILES.has(name);
  });
}

/** One spelling for all paths that lenient disks take for the same file. */
export function lenientSpelling(path: string): string {
  return path.toLowerCase().split("/").map(withoutDisguise).join("/");
}

/** Where the harness itself may write below the root, and no one else. Judges the one canonical spelling. */
export function isHarnessPath(path: string): boolean {
  return OWN_AREA.test(path);
}

/**
 * A name as the most lenient disks see it: without the name of a stream (`config::$data`), without characters
 * that some ignore, and without the dots and spaces that some drop at the end.
 */
function withoutDisguise(name: string): string {
  return name
    .replace(/:.*$/s, "")
    .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
    .replace(/[. ]+$/, "");
}
