/**
 * Keeps secrets out of what is printed, stored or sent to a model by way of errors: providers and servers repeat keys in
 * their words.
 *
 * Secrets are the values of environment variables with a telling name, and values that somebody configured and holds here:
 * headers, tokens, keys of model clients. It stops an accident: a server that wants to can spell a value differently.
 */

export type Secret = readonly [label: string, value: string];
export type Environment = Readonly<Record<string, string | undefined>>;

const SECRET_NAME =
  /key|token|secret|passw(?:or)?d|passphrase|credential|(?:^|_)(?:pass|auth|authorization|cookie|dsn)$/i;
/** Shorter values are found where they are not meant. */
const MIN_LENGTH = 8;
/** Values that variables with such names have, and that any text may contain. */
const COMMON = new Set(
  "anonymous application/json changeme development disabled localhost optional password placeholder production required undefined username".split(
    " ",
  ),
);

/** Keys as the well-known services shape them. */
const KEY_SHAPE = /\b(?:sk|pk|rk|gsk|ghp|gho|lsv2|xox[abp])[-_][\w-]{12,}|\bAIza[\w-]{20,}/g;

/** Values of secrets become their names; passwords in addresses and text that looks like a key are struck out too. */
export function withoutSecrets(text: string, environment: Environment = ambientEnvironment()): string {
  let clean = text.replace(/(?<=\w:\/\/)[^/\s]+@/g, "");
  for (const [label, value] of spelled([...secretsIn(environment), ...heldSecrets()]))
    if (clean.includes(value)) clean = clean.replaceAll(value, `[${label}]`);
  return clean.replace(KEY_SHAPE, "[key]");
}

/** The variables that hold secrets, and their values. */
export function secretsIn(environment: Environment): readonly Secret[] {
  return Object.entries(environment).flatMap(([name, value]) => {
    if (value === undefined) return [];
    if (SECRET_NAME.test(name)) return usable([[name, value]]);
    return addressSecrets(name, value);
  });
}

/** The password in an address such as `postgres://me:password@host`. */
export function addressSecrets(label: string, address: string): readonly Secret[] {
  const password = /^[\w+.-]+:\/\/[^:/@\s]*:([^\s]+)@/.exec(address)?.[1];
  return password === undefined ? [] : usable([[label, password]]);
}

const PLAIN_HEADER = /^(?:accept.*|cache-control|connection|content-.*|host|origin|referer|user-agent)$/i;

/** Header values, whole and without the name of the scheme (`Bearer …`). */
export function headerSecrets(headers: Readonly<Record<string, unknown>>): readonly Secret[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (typeof value !== "string" || PLAIN_HEADER.test(name)) return [];
    const credentials = /^[A-Za-z][\w-]* +(\S.*)$/.exec(value)?.[1];
    return usable([[name, value], ...(credentials === undefined ? [] : [[name, credentials] as const])]);
  });
}

const SECRET_FIELD = /(?:api_?key|(?:access|auth|bearer)_?token|secret|password|credential)/i;

/** Fields of an object with a telling name, such as the key a model's client was made with, and its default headers. */
export function fieldSecrets(client: object): readonly Secret[] {
  return Object.entries(client).flatMap(([name, value]: [string, unknown]): readonly Secret[] => {
    if (typeof value === "string") return SECRET_FIELD.test(name) ? usable([[name, value]]) : [];
    const { defaultHeaders } = (value ?? {}) as { defaultHeaders?: unknown };
    return typeof defaultHeaders === "object" && defaultHeaders !== null
      ? headerSecrets(defaultHeaders as Record<string, unknown>)
      : [];
  });
}

function usable(secrets: readonly Secret[]): readonly Secret[] {
  return secrets.filter(([, value]) => value.length >= MIN_LENGTH && !COMMON.has(value.toLowerCase()));
}

/** Also as JSON and addresses write them; the longest first, because one may begin with another. */
function spelled(secrets: readonly Secret[]): readonly Secret[] {
  const all = secrets.flatMap(([label, value]): Secret[] => {
    if (/^[\w.~-]+$/.test(value)) return [[label, value]];
    const forms = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value.toWellFormed())];
    return [...new Set(forms)].map((form) => [label, form]);
  });
  return all.sort(([, one], [, other]) => other.length - one.length);
}

type Values = Map<string, string>;

interface Registry {
  /** Labels by value, one map for each owner. */
  readonly held: Set<Values>;
  readonly owners: WeakMap<object, Values>;
  readonly forgotten: FinalizationRegistry<Values>;
}

const REGISTRY = Symbol.for("deepwright.secrets");

/** One for the process, also where the package is loaded twice. */
function registry(): Registry {
  const place = globalThis as { [REGISTRY]?: Registry };
  if (place[REGISTRY] === undefined) {
    const held = new Set<Values>();
    const forgotten = new FinalizationRegistry<Values>((values) => held.delete(values));
    place[REGISTRY] = { held, owners: new WeakMap(), forgotten };
  }
  return place[REGISTRY];
}

/** They are struck out until `owner` releases them or is garbage. Secrets given for the same owner later are added. */
export function holdSecrets(owner: object, secrets: readonly Secret[]): void {
  const { held, owners, forgotten } = registry();
  const known = owners.get(owner);
  const values = known ?? new Map<string, string>();
  for (const [label, value] of usable(secrets)) values.set(value, label);
  if (known !== undefined || values.size === 0) return;
  held.add(values);
  owners.set(owner, values);
  forgotten.register(owner, values, owner);
}

/** Safe twice. */
export function releaseSecrets(owner: object): void {
  const { held, owners, forgotten } = registry();
  const values = owners.get(owner);
  if (values === undefined) return;
  held.delete(values);
  owners.delete(owner);
  forgotten.unregister(owner);
}

export function heldSecrets(): readonly Secret[] {
  return [...registry().held].flatMap((values) =>
    [...values].map(([value, label]): Secret => [label, value]),
  );
}

const DEEPEST = 8;

/** The same error; its message, its stack and those of its causes are without secrets. */
export function redactError<Thrown>(error: Thrown): Thrown {
  let current: unknown = error;
  for (let depth = 0; depth < DEEPEST && current instanceof Error; depth += 1) {
    for (const field of ["message", "stack"] as const) redactField(current, field);
    if (current instanceof AggregateError) for (const one of current.errors) redactField(one, "message");
    current = current.cause;
  }
  return error;
}

function redactField(holder: unknown, field: "message" | "stack"): void {
  if (!(holder instanceof Error)) return;
  const text = holder[field];
  if (typeof text !== "string") return;
  const clean = withoutSecrets(text);
  if (clean === text) return;
  try {
    Object.defineProperty(holder, field, { value: clean, writable: true, configurable: true });
  } catch {
    // A frozen error stays as it is.
  }
}

function ambientEnvironment(): Environment {
  const { process } = globalThis as { process?: { env?: Environment } };
  return process?.env ?? {};
}
