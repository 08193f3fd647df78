/** Finds the sandbox of a key again, or opens a fresh one. A failure or an abort leaves nothing open. */
import { SandboxError } from "deepwright";
import type { OpenedSandbox, OpenRequest, SandboxProvider } from "../provider.ts";
import type { NotedIds } from "./noted-id.ts";
import type { Settings } from "./options.ts";
import { type SetUpOptions, setUp, setupText } from "./set-up.ts";

export interface LeaseRequest {
  readonly key: string;
  readonly settings: Settings;
  readonly provider: SandboxProvider;
  /** The one this process held last. */
  readonly lastId: string | undefined;
  /** Ids of sandboxes that exist and cannot be used. */
  readonly dead: ReadonlySet<string>;
  readonly noted: NotedIds | undefined;
  readonly signal: AbortSignal;
}

export interface FoundSandbox {
  readonly opened: OpenedSandbox;
  /** Nothing in it is from before. */
  readonly isFresh: boolean;
  /** An earlier sandbox is gone, with its files. */
  readonly isReplacement: boolean;
}

export async function findOrOpen(request: LeaseRequest): Promise<FoundSandbox> {
  const { provider, settings, signal, noted, lastId } = request;
  const script = await setupText(settings);
  const notedId = await noted?.read();
  const found = await findAgain(request, notedId, script);
  if (found !== undefined) return { opened: found, isFresh: false, isReplacement: false };
  signal.throwIfAborted();
  const opened = await provider.open(openRequest(request));
  return orDestroyed(opened, async () => {
    signal.throwIfAborted();
    if (script !== undefined && !(await setUp(opened, setting(request, script)))) throw cannotNote();
    await noted?.write(opened.id);
    const before = await older(request, opened, script);
    if (before !== undefined) return { opened: before, isFresh: false, isReplacement: false };
    signal.throwIfAborted();
    if (provider.lendsFiles) return { opened, isFresh: false, isReplacement: false };
    return { opened, isFresh: true, isReplacement: (notedId ?? lastId) !== undefined };
  });
}

function openRequest({ key, settings, signal }: LeaseRequest): OpenRequest {
  const { env, ttl } = settings;
  return { key, env, signal, ...(Number.isFinite(ttl) && { ttl }) };
}

function setting({ provider, settings, signal }: LeaseRequest, script: string): SetUpOptions {
  return { script, settings, signal, isBorrowed: provider.isBorrowed === true };
}

/** The first that is there and set up. In a thread, which has one, any others were left by a crash and are ended. */
async function findAgain(
  request: LeaseRequest,
  notedId: string | undefined,
  script: string | undefined,
): Promise<OpenedSandbox | undefined> {
  const { provider, key, dead, lastId, settings, signal } = request;
  if (provider.reattach === undefined) return undefined;
  const labelled = [...((await provider.find?.(key)) ?? [])].sort();
  const ids = [...new Set([lastId, notedId, ...labelled])].filter((id) => id !== undefined && !dead.has(id));
  while (ids.length > 0) {
    signal.throwIfAborted();
    const taken = await takeUp(request, ids.shift() as string, script);
    if (taken === undefined) continue;
    return orDetached(taken, async () => {
      for (const id of settings.scope === "thread" ? (ids as string[]) : []) {
        signal.throwIfAborted();
        await provider.destroy?.(id);
      }
      return taken;
    });
  }
  return undefined;
}

async function takeUp(
  request: LeaseRequest,
  id: string,
  script: string | undefined,
): Promise<OpenedSandbox | undefined> {
  const { provider, signal } = request;
  const opened = await provider.reattach?.(id, openRequest(request));
  if (opened === undefined) return undefined;
  try {
    signal.throwIfAborted();
    if (script === undefined || (await setUp(opened, setting(request, script)))) return opened;
  } catch (error) {
    await (hasCode(error, "SETUP_FAILED") ? opened.destroy() : opened.detach());
    if (isLost(error)) return undefined;
    throw error;
  }
  await opened.destroy();
  return undefined;
}

/** Where several processes share a sandbox, two may have opened one at once: all go on with the same of them. */
async function older(
  request: LeaseRequest,
  own: OpenedSandbox,
  script: string | undefined,
): Promise<OpenedSandbox | undefined> {
  const { provider, key, settings, noted, dead } = request;
  if (settings.scope !== "assistant" || provider.reattach === undefined) return undefined;
  const found = [...((await provider.find?.(key)) ?? [])].filter((id) => !dead.has(id)).sort();
  if (!found.includes(own.id)) return undefined;
  for (const id of found.slice(0, found.indexOf(own.id))) {
    const other = await takeUp(request, id, script);
    if (other === undefined) continue;
    return orDetached(other, async () => {
      await own.destroy();
      await noted?.write(id);
      return other;
    });
  }
  return undefined;
}

async function orDestroyed<Result>(opened: OpenedSandbox, act: () => Promise<Result>): Promise<Result> {
  return otherwise(act, () => opened.destroy());
}

async function orDetached<Result>(opened: OpenedSandbox, act: () => Promise<Result>): Promise<Result> {
  return otherwise(act, () => opened.detach());
}

async function otherwise<Result>(act: () => Promise<Result>, undo: () => Promise<void>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    await undo().catch(() => {
      // The error of opening matters more than the error of releasing.
    });
    throw error;
  }
}

export function isLost(error: unknown): boolean {
  return hasCode(error, "SANDBOX_LOST");
}

function hasCode(error: unknown, code: string): boolean {
  return SandboxError.isInstance(error) && error.code === code;
}

function cannotNote(): SandboxError {
  return new SandboxError(
    "The sandbox has no directory for temporary files that can be written, so its set-up cannot be noted.",
    "SETUP_FAILED",
  );
}
