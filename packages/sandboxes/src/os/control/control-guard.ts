/** Closes the files of a workspace that commands must not change or reach, while each command runs. */
import type { ClosedPaths } from "deepwright";
import type { CommandEntry } from "../commands.ts";
import type { OsSettings } from "../os-options.ts";
import {
  type ControlMount,
  type ControlMounts,
  type ControlRequest,
  controlMounts,
} from "./control-mounts.ts";
import { allowChanges, checkControls, keepControls } from "./control-watch.ts";
import { gitHomes } from "./git-settings.ts";
import type { WorkspaceRoot } from "./workspace-root.ts";
import { searchWorkspace } from "./workspace-search.ts";

export interface Guard {
  /** Whether something in the workspace may have to be mounted. */
  readonly mayMount: boolean;
  /** Throws where something cannot be closed; for the test of ours, which harms nothing, that does not count. */
  enter(isTest: boolean, closed: ClosedPaths): Guarded;
  /** File operations are about to change these paths, relative to the workspace. */
  allowChanges(paths: readonly string[]): (isDone: boolean) => void;
}

interface Guarded extends Pick<CommandEntry, "watch" | "leave"> {
  readonly mounts: readonly ControlMount[];
}

const NOTHING = { repositories: [], controls: [], connections: [] };

/** A private directory is used by commands alone, so nothing is guarded there. */
export function guardOf(settings: OsSettings, root: WorkspaceRoot): Guard {
  const { protectsControlFiles } = settings;
  const found = settings.rootDir === undefined ? NOTHING : searchWorkspace(root);
  const homes = protectsControlFiles ? gitHomes(root.path) : [];
  const controls = [...found.controls, ...settings.controlPaths];
  const own = { root, homes, ...found, controls, protectsControlFiles };
  return {
    mayMount:
      protectsControlFiles ||
      settings.readOnly.length + settings.hidden.length + found.connections.length > 0,
    enter: (isTest, closed) => {
      const readOnly = [...settings.readOnly, ...closed.readOnly];
      const hidden = [...settings.hidden, ...closed.hidden];
      const { mounts, absent, links } = mountsFor({ ...own, readOnly, hidden }, isTest);
      if (!protectsControlFiles && absent.length === 0) return { mounts, leave: () => {} };
      return { mounts, ...keepControls(root, { links, absent, watchesTop: protectsControlFiles }) };
    },
    allowChanges: (paths) => allowChanges(root, paths),
  };
}

function mountsFor(request: ControlRequest, isTest: boolean): ControlMounts {
  checkControls(request.root);
  try {
    return controlMounts(request);
  } catch (error) {
    if (isTest) return { mounts: [], absent: [], links: [] };
    throw error;
  }
}
