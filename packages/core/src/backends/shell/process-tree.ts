/** Ends everything a command has started, including processes that left its process group. */
import { readdirSync, readFileSync } from "node:fs";

const CALL_VARIABLE = "DEEPWRIGHT_CALL";
const CALL_IDS = new RegExp(`(?:^|\\0)${CALL_VARIABLE}=([^\\0]*)`);

export interface CommandProcess {
  /** Process id of the shell, or of the program before it: the leader of its group. */
  readonly pid: number;
  /** In the mark of every process of the command. */
  readonly callId: string;
  /** All it starts ends with it: there is nothing else to look for. */
  readonly isAlone?: boolean;
  /** Signals a process that leads no group, because another process started it. Does nothing after its end. */
  readonly signal?: (signal: NodeJS.Signals) => void;
}

/** The variable that marks the processes of a call; a call within a call carries both ids. */
export function callMark(callId: string): Record<string, string> {
  const outer = process.env[CALL_VARIABLE];
  return { [CALL_VARIABLE]: outer ? `${outer}/${callId}` : callId };
}

const MAX_ROUNDS = 10;
/** A process may also have no environment for good. */
const UNCLEAR_ROUNDS = 2;
/** The parent of the kernel's own threads. */
const KERNEL_THREADS = 2;

/**
 * Asks every process of the command to end and returns the ids of those outside its group. A later kill needs these
 * ids: once their parents have ended, their descent is forgotten.
 */
export function terminateCommand(command: CommandProcess): readonly number[] {
  const known = find(command).alive;
  signalGroup(command, "SIGTERM");
  for (const pid of known) signalProcess(pid, "SIGTERM");
  return known;
}

/**
 * Kills the group and, on Linux, every process that descends from the command or carries its mark. A process with an
 * empty environment whose parent has ended is not found. Elsewhere: the group.
 */
export function killCommand(command: CommandProcess, known: readonly number[] = []): void {
  const before = [...find(command).alive, ...known];
  signalGroup(command, "SIGKILL");
  for (const pid of before) signalProcess(pid, "SIGKILL");
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const { alive, unclear } = find(command);
    if (alive.length === 0 && !(unclear && round < UNCLEAR_ROUNDS)) return;
    for (const pid of alive) signalProcess(pid, "SIGKILL");
  }
}

interface Found {
  readonly alive: readonly number[];
  /** A process that is about to become another program shows no environment for a moment. */
  readonly unclear: boolean;
}

/** Live processes of the command, without the shell itself. */
function find({ pid: shell, callId, isAlone }: CommandProcess): Found {
  if (process.platform !== "linux" || isAlone) return { alive: [], unclear: false };
  const parents = new Map<number, number>();
  const found = new Set<number>();
  let unclear = false;
  for (const pid of candidates(shell)) {
    const parent = parentOfLiving(pid);
    if (parent === undefined || parent === KERNEL_THREADS) continue;
    parents.set(pid, parent);
    const environment = textOf(`/proc/${pid}/environ`);
    if (environment === "") unclear = true;
    const mark = CALL_IDS.exec(environment ?? "")?.[1];
    if (mark?.split("/").includes(callId)) found.add(pid);
  }
  for (let before = -1; before !== found.size; ) {
    before = found.size;
    for (const [pid, parent] of parents) if (parent === shell || found.has(parent)) found.add(pid);
  }
  return { alive: [...found], unclear };
}

/** Process ids are given out in order, so younger ones are larger, until the numbers begin again. */
function candidates(shell: number): number[] {
  const newest = Number((textOf("/proc/loadavg") ?? "").trim().split(" ").at(-1));
  const all = namesIn("/proc")
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== shell && pid !== process.pid);
  return newest >= shell ? all.filter((pid) => pid > shell) : all;
}

/** Undefined for a process that has ended, whether or not its parent has taken notice. */
function parentOfLiving(pid: number): number | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : Number(parent);
}

/** Undefined for a process that is gone or belongs to another user. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "latin1");
  } catch (error) {
    return systemErrorMeans(undefined, error);
  }
}

function namesIn(path: string): string[] {
  try {
    return readdirSync(path);
  } catch (error) {
    return systemErrorMeans([], error);
  }
}

function signalGroup({ pid, signal }: CommandProcess, name: NodeJS.Signals): void {
  if (signal === undefined) signalProcess(-pid, name);
  else signal(name);
}

function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    systemErrorMeans(undefined, error);
  }
}

function systemErrorMeans<T>(value: T, error: unknown): T {
  if (typeof (error as NodeJS.ErrnoException).syscall === "string") return value;
  throw error;
}
