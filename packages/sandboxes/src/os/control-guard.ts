/** Closes what commands must not change or reach in a workspace, for as long as each of them runs. */
import { controlArguments } from "./bubblewrap-arguments.ts";
import type { CommandEntry } from "./commands.ts";
import { checkLinks, keepLinks } from "./control-links.ts";
import { type ControlMounts, type ControlRequest, controlMounts } from "./control-mounts.ts";
import { gitHomes } from "./git-settings.ts";
import type { Bind } from "./network.ts";
import type { OsSettings } from "./os-options.ts";
import { holdPlaceholders } from "./placeholders.ts";
import { searchWorkspace } from "./workspace-search.ts";

export interface GuardRequest {
  readonly settings: OsSettings;
  readonly state: string;
  /** Of the workspace; `from` is a real path. */
  readonly bind: Bind;
  /** `bwrap` can say how much memory files in a place may take. */
  readonly canBound: boolean;
}

export interface Guard {
  /** Throws where something cannot be closed; for the test of ours, which harms nothing, that does not count. */
  enter(isTest: boolean): Guarded;
  /** Takes away what no command needs. */
  tidy(): void;
  /** Safe twice. */
  close(): void;
}

interface Guarded extends Pick<CommandEntry, "watch" | "leave"> {
  /** Words for `bwrap`. */
  readonly control: readonly string[];
}

const UNGUARDED: Guarded = { control: [], leave: () => {} };

export function guardOf({ settings, state, bind, canBound }: GuardRequest): Guard {
  const { protectsControlFiles, readOnly, hidden } = settings;
  const workspace = bind.from;
  // In a private directory there is nobody but commands.
  const found =
    settings.rootDir === undefined
      ? { repositories: [], controls: [], connections: [] }
      : searchWorkspace(workspace);
  const isNeeded =
    protectsControlFiles || readOnly.length + hidden.length > 0 || found.connections.length > 0;
  if (!isNeeded) return { enter: () => UNGUARDED, tidy: () => {}, close: () => {} };
  const { placeholders, letGo } = holdPlaceholders(workspace, state);
  let isHeld = true;
  const isPlaceholder = (path: string): boolean => placeholders.has(path);
  const homes = protectsControlFiles ? gitHomes(workspace) : [];
  const request = {
    rootDir: workspace,
    homes,
    ...found,
    readOnly,
    hidden,
    protectsControlFiles,
    isPlaceholder,
  };
  return {
    enter: (isTest) => {
      const leave = placeholders.use();
      try {
        const mounted = mountsFor(request, isTest);
        const impossible = placeholders.make(mounted.missing);
        const mounts = mounted.mounts.filter(({ path }) => !impossible.has(path));
        const control = controlArguments(mounts, bind, canBound);
        return mounted.links.length === 0
          ? { control, leave }
          : keeping(workspace, mounted.links, { control, leave });
      } catch (error) {
        leave();
        throw error;
      }
    },
    tidy: () => placeholders.close(),
    close: () => {
      if (isHeld) letGo();
      isHeld = false;
    },
  };
}

function mountsFor(request: ControlRequest, isTest: boolean): ControlMounts {
  checkLinks(request.rootDir);
  try {
    return controlMounts(request);
  } catch (error) {
    if (isTest) return { mounts: [], missing: [], links: [] };
    throw error;
  }
}

function keeping(workspace: string, links: readonly string[], { control, leave }: Guarded): Guarded {
  const keeping = keepLinks(workspace, links);
  return {
    control,
    watch: keeping.watch,
    leave: () => {
      keeping.leave();
      leave();
    },
  };
}
