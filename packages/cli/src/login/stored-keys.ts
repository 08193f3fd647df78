/**
 * Keys that `deepwright login` stored. keys.json (0600) says where each is: in the keyring of the operating system, or, where
 * there is none, in the file itself.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "deepwright/check-options";
import { CommandError } from "../command-error.ts";
import { homeOf } from "../state/home.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { KEY_OWNERS, type KeyOwner } from "./key-names.ts";
import { openKeyring } from "./keyring.ts";

type Place = { readonly in: "keyring" } | { readonly in: "file"; readonly key: string };

export type StoredIn = { readonly title: string; readonly isKeyring: boolean };

function fileOf(env: NodeJS.ProcessEnv): string {
  return join(homeOf(env), "keys.json");
}

async function places(env: NodeJS.ProcessEnv): Promise<Record<string, Place>> {
  const { readPrivateFile } = await import("@deepwright/mcp");
  const path = fileOf(env);
  const text = await readPrivateFile(path).catch((error: Error) => {
    throw new CommandError(safeLine(error.message, 500), { cause: error });
  });
  if (text === undefined) return {};
  try {
    const { keys } = JSON.parse(text);
    if (isRecord(keys) && Object.values(keys).every(isPlace)) return keys as Record<string, Place>;
  } catch {
    // Said below.
  }
  throw new CommandError(`${safeLine(path)} is not the list of stored keys.`, {
    hint: "Remove it, and store your keys again with deepwright login.",
  });
}

function isPlace(value: unknown): value is Place {
  if (!isRecord(value)) return false;
  return value.in === "keyring" || (value.in === "file" && typeof value.key === "string");
}

async function write(keys: Record<string, Place>, env: NodeJS.ProcessEnv): Promise<void> {
  const { writePrivateFile } = await import("@deepwright/mcp");
  await writePrivateFile(fileOf(env), `${JSON.stringify({ version: 1, keys }, undefined, 2)}\n`);
}

export async function storeKey({ name }: KeyOwner, key: string, env: NodeJS.ProcessEnv): Promise<StoredIn> {
  const keyring = await openKeyring(env);
  const isKept =
    keyring !== undefined && (await keyring.store(name, key)) && (await keyring.lookup(name)) === key;
  const place: Place = isKept ? { in: "keyring" } : { in: "file", key };
  await write({ ...(await places(env)), [name]: place }, env);
  return { title: isKept ? keyring.title : fileOf(env), isKeyring: isKept };
}

/** False: none was stored. */
export async function removeKey({ name }: KeyOwner, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { [name]: place, ...others } = await places(env);
  if (place === undefined) return false;
  if (place.in === "keyring") await (await openKeyring(env))?.remove(name);
  await write(others, env);
  return true;
}

/** Names of services with a stored key, and where it is. */
export async function storedKeys(
  env: NodeJS.ProcessEnv,
): Promise<readonly (readonly [string, Place["in"]])[]> {
  return Object.entries(await places(env)).map(([name, place]) => [name, place.in] as const);
}

/** Puts stored keys where variables are read, unless a variable is set: what a shell says counts more. */
export async function loadStoredKeys(env: NodeJS.ProcessEnv): Promise<void> {
  if (!existsSync(fileOf(env))) return;
  const known = await places(env);
  await Promise.all(
    KEY_OWNERS.filter(({ name, variable }) => Object.hasOwn(known, name) && !env[variable]).map(
      async ({ name, variable }) => {
        const key = await keyAt(known[name] as Place, name, env);
        if (key !== undefined) env[variable] = key;
      },
    ),
  );
}

async function keyAt(place: Place, name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  return place.in === "file" ? place.key : (await openKeyring(env))?.lookup(name);
}

/** Removes the stored keys of these services, also from the variables that `loadStoredKeys` put them in. */
export async function removeKeys(names: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  const known = await places(env);
  for (const owner of KEY_OWNERS.filter(({ name }) => names.includes(name) && Object.hasOwn(known, name))) {
    const key = await keyAt(known[owner.name] as Place, owner.name, env);
    if (key !== undefined && env[owner.variable] === key) delete env[owner.variable];
    await removeKey(owner, env);
  }
}
