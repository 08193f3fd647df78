/** Modes and options of a session as an editor shows them. Pure. */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { ApprovalMode } from "@deepwright/server";
import { MODE_WORDS, MODES } from "../app/app-words.ts";
import { EFFORTS, type Effort } from "../model/effort.ts";

export const DEFAULT_EFFORT = "default";
export type CommandPlace = "sandbox" | "editor";

/** What a person chose for a session. */
export interface SessionChoices {
  readonly mode: ApprovalMode;
  readonly model: string;
  readonly effort: Effort | undefined;
  readonly commands: CommandPlace;
}

export interface OfferedOptions {
  /** Whether the agent has approval modes. */
  readonly hasModes: boolean;
  /** Models that can be chosen. */
  readonly models: readonly string[];
  readonly hasEffort: boolean;
  readonly hasTerminals: boolean;
  /** The words for our own sandbox. */
  readonly sandbox: string;
}

export function modeState(mode: ApprovalMode): SessionModeState {
  return {
    currentModeId: mode,
    availableModes: MODES.map((id) => ({ id, name: id, description: MODE_WORDS[id] })),
  };
}

export function configOptions(chosen: SessionChoices, offered: OfferedOptions): SessionConfigOption[] {
  return [
    ...(offered.hasModes ? [modeOption(chosen.mode)] : []),
    {
      ...{ id: "model", name: "Model", category: "model", type: "select" as const },
      currentValue: chosen.model,
      options: offered.models.map((value) => ({ value, name: value })),
    },
    ...(offered.hasEffort ? [effortOption(chosen.effort)] : []),
    ...(offered.hasTerminals ? [commandOption(chosen.commands, offered.sandbox)] : []),
  ];
}

function modeOption(mode: ApprovalMode): SessionConfigOption {
  return {
    ...{ id: "mode", name: "Approvals", category: "mode", type: "select" as const },
    currentValue: mode,
    options: MODES.map((value) => ({ value, name: value, description: MODE_WORDS[value] })),
  };
}

function effortOption(effort: Effort | undefined): SessionConfigOption {
  return {
    ...{ id: "effort", name: "Effort", category: "thought_level", type: "select" as const },
    currentValue: effort ?? DEFAULT_EFFORT,
    options: [
      { value: DEFAULT_EFFORT, name: "as the model has it" },
      ...EFFORTS.map((value) => ({ value, name: value })),
    ],
  };
}

function commandOption(place: CommandPlace, sandbox: string): SessionConfigOption {
  return {
    ...{ id: "commands", name: "Commands", type: "select" as const },
    currentValue: place,
    options: [
      { value: "sandbox", name: "in our sandbox", description: sandbox },
      {
        value: "editor",
        name: "in the editor's terminal",
        description: "Not isolated: each command is asked about.",
      },
    ],
  };
}
