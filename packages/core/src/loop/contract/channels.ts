/**
 * The state of an agent as channels: built once from the schemas of the agent and its middleware.
 *
 * Plain channels only, so that forks and time travel are right with any saver. Schemas are used at
 * the edges (input and `updateState`), never per step.
 */

import {
  getInteropZodObjectShape,
  type InteropZodObject,
  interopSafeParseAsync,
  isInteropZodObject,
  isInteropZodSchema,
} from "@langchain/core/utils/types";
import { type BaseChannel, ReducedValue, StateSchema } from "@langchain/langgraph";
import { LastValue } from "@langchain/langgraph/channels";
import { schemaMetaRegistry } from "@langchain/langgraph/zod";
import { filesValue } from "../../backends/state/files-value.ts";
import { ConfigurationError, DeepwrightError } from "../../errors.ts";
import { NOT_FOR_CALLERS } from "../../internal-symbols.ts";
import { APPROVAL_PLAN, APPROVALS } from "../approval-rules/approval-memory.ts";
import { coerceMessages } from "../messages/messages.ts";
import { MessagesChannel } from "../messages/messages-channel.ts";
import { REMINDERS, remindersChannel } from "../messages/reminders.ts";
import { FilesChannel } from "./files-channel.ts";

/** A single value that never fails on several writes in one step: the last one, in call order, stays. */
export class KeepLast extends LastValue<unknown> {
  override fromCheckpoint(checkpoint?: unknown): this {
    const next = new KeepLast(this.initialValueFactory);
    if (checkpoint !== undefined) next.value = [checkpoint];
    return next as this;
  }

  override update(values: unknown[]): boolean {
    return super.update(values.length > 1 ? values.slice(-1) : values);
  }
}

/**
 * A result of a run, stored with its last checkpoint; the next run clears it by writing undefined or null. Asking for it
 * when there is none is normal and must be cheap, so nothing is thrown.
 */
export class RunResult extends KeepLast {
  override fromCheckpoint(checkpoint?: unknown): this {
    const next = new RunResult();
    if (checkpoint !== undefined && checkpoint !== null) next.value = [checkpoint];
    return next as this;
  }

  override update(values: unknown[]): boolean {
    if (values.length === 0) return false;
    const last = values.at(-1) ?? undefined;
    this.value = last === undefined ? [] : [last];
    return true;
  }

  override get(): unknown {
    return this.value[0];
  }

  override checkpoint(): unknown {
    return this.value[0];
  }
}

type Validate = (value: unknown) => Promise<{ value: unknown } | { problem: string }>;

interface Field {
  readonly channel: BaseChannel;
  readonly validate?: Validate;
  readonly isOwn?: boolean;
}

export interface StateShape {
  readonly channels: Readonly<Record<string, BaseChannel>>;
  /** Keys that a caller may pass in and `updateState` may set. Keys beginning with `_` are private. */
  readonly inputKeys: readonly string[];
  readonly outputKeys: readonly string[];
  /** Keys a tool may write only once per turn: they have no reducer. */
  readonly singleValueKeys: ReadonlySet<string>;
  /** Checks and coerces the given values; throws INVALID_INPUT naming the field. */
  validate(values: Record<string, unknown>): Promise<Record<string, unknown>>;
}

const messagesChannel = new MessagesChannel();
const reminders = remindersChannel();
const runResult = new RunResult();

/**
 * Later schemas do not replace a key an earlier one declared; the agent's own schema comes first. `own` are
 * channels of the loop.
 */
export function buildState(
  schemas: readonly unknown[],
  own: Readonly<Record<string, BaseChannel>> = {},
): StateShape {
  const fields = new Map<string, Field>();
  for (const schema of schemas)
    for (const [key, field] of fieldsOf(schema)) {
      if (key in Object.prototype) throw unusableKey(key);
      if (!fields.has(key)) fields.set(key, field);
    }
  for (const reserved of RESERVED) fields.delete(reserved);
  const publicKeys = [...fields.keys()].filter((key) => !key.startsWith("_"));
  const channels: Record<string, BaseChannel> = { messages: messagesChannel };
  for (const [key, field] of fields) channels[key] = field.channel;
  for (const key of RUN_RESULTS) channels[key] = runResult;
  channels[REMINDERS] = reminders;
  Object.assign(channels, own);
  return {
    channels,
    inputKeys: ["messages", ...publicKeys.filter((key) => !fields.get(key)?.isOwn)],
    outputKeys: ["messages", ...publicKeys, ...RUN_RESULTS],
    singleValueKeys: new Set(
      [...fields].filter(([, f]) => f.channel instanceof KeepLast).map(([key]) => key),
    ),
    validate: (values) => validateValues(fields, values),
  };
}

/** Channels that hold how the last run ended. */
export const RUN_RESULTS = ["structuredResponse", "outcome"] as const;

const RESERVED = ["messages", ...RUN_RESULTS, "jumpTo", REMINDERS, APPROVALS, APPROVAL_PLAN];

async function validateValues(
  fields: ReadonlyMap<string, Field>,
  values: Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const result: [string, unknown][] = [];
  for (const [key, value] of Object.entries(values)) {
    if (key === "messages") result.push([key, inputMessages(value)]);
    else {
      const checked = await fields.get(key)?.validate?.(value);
      if (checked && "problem" in checked)
        throw new DeepwrightError(
          "INVALID_INPUT",
          `The value given for '${key}' is not valid: ${checked.problem}.`,
        );
      result.push([key, checked ? checked.value : value]);
    }
  }
  return Object.fromEntries(result);
}

function inputMessages(value: unknown): unknown {
  try {
    return coerceMessages(value);
  } catch (cause) {
    throw new DeepwrightError("INVALID_INPUT", "The value given for 'messages' is not a list of messages.", {
      hint: 'Pass messages, strings, or {role, content} objects, e.g. {messages: [{role: "user", content: "Hi"}]}.',
      cause,
    });
  }
}

const knownFields = new WeakMap<object, readonly (readonly [string, Field])[]>();

/** The fields of one schema, made once per schema object: channels are templates and can be shared. */
function fieldsOf(schema: unknown): readonly (readonly [string, Field])[] {
  if (schema === undefined || schema === null) return [];
  if (typeof schema !== "object") throw notASchema();
  const known = knownFields.get(schema);
  if (known) return known;
  const fields = readFields(schema);
  knownFields.set(schema, fields);
  return fields;
}

function readFields(schema: object): (readonly [string, Field])[] {
  if (StateSchema.isInstance(schema))
    return Object.entries(schema.fields).map(([k, f]) => [k, ownOr(f, schemaField(k, f))]);
  if (isInteropZodObject(schema))
    return Object.entries(getInteropZodObjectShape(schema as InteropZodObject)).map(([k, f]) => [
      k,
      zodField(k, f),
    ]);
  const spec = (schema as { lc_graph_name?: string; spec?: Record<string, unknown> }).spec;
  if (spec) return Object.entries(spec).map(([key, value]) => [key, annotationField(value)]);
  throw notASchema();
}

function ownOr(given: unknown, field: Field): Field {
  return (given as { [NOT_FOR_CALLERS]?: boolean })[NOT_FOR_CALLERS] ? { ...field, isOwn: true } : field;
}

/** The engine looks keys up in plain objects. */
function unusableKey(key: string): ConfigurationError {
  return new ConfigurationError(
    "INVALID_OPTION",
    `A stateSchema cannot have the key '${key}', which every object has.`,
  );
}

function notASchema(): ConfigurationError {
  return new ConfigurationError(
    "INVALID_OPTION",
    "A stateSchema must be a zod object, a StateSchema or an Annotation.",
  );
}

function zodField(key: string, field: unknown): Field {
  const reducer = schemaMetaRegistry.get(field as never)?.reducer;
  if (!reducer) return schemaField(key, field);
  const options = reducer.schema
    ? { inputSchema: reducer.schema, reducer: reducer.fn }
    : { reducer: reducer.fn as (a: unknown, b: unknown) => unknown };
  return schemaField(key, new ReducedValue(field as never, options as never));
}

function schemaField(key: string, field: unknown): Field {
  const channel =
    (field as unknown) === filesValue
      ? new FilesChannel()
      : (new StateSchema({ [key]: field as never }).getChannels()[key] as BaseChannel);
  const schema = inputSchemaOf(field);
  const validate = schema === undefined ? undefined : validator(schema);
  return validate ? { channel: lenient(channel), validate } : { channel: lenient(channel) };
}

function annotationField(value: unknown): Field {
  return { channel: lenient((typeof value === "function" ? value() : value) as BaseChannel) };
}

function lenient(channel: BaseChannel): BaseChannel {
  const defaulted = channel as unknown as { initialValueFactory?: () => unknown };
  const make = defaulted.initialValueFactory;
  if (make) defaulted.initialValueFactory = () => fresh(make());
  return channel instanceof LastValue ? new KeepLast(defaulted.initialValueFactory) : channel;
}

/** Schemas give the same default object every time; no two threads may share one. */
function fresh(value: unknown): unknown {
  if (Array.isArray(value)) return [...value];
  const isPlain =
    value !== null && typeof value === "object" && Object.getPrototypeOf(value) === Object.prototype;
  return isPlain ? { ...value } : value;
}

function inputSchemaOf(field: unknown): unknown {
  if (ReducedValue.isInstance(field)) return field.inputSchema ?? field.valueSchema;
  return (field as { schema?: unknown }).schema ?? field;
}

interface StandardSchema {
  readonly "~standard"?: {
    validate(value: unknown): unknown;
  };
}

interface Issues {
  readonly issues?: readonly { readonly message: string; readonly path?: readonly unknown[] }[];
  readonly value?: unknown;
}

function validator(schema: unknown): Validate | undefined {
  const standard = (schema as StandardSchema)["~standard"];
  if (standard)
    return async (value) => {
      const result = (await standard.validate(value)) as Issues;
      return result.issues ? { problem: describeIssues(result.issues) } : { value: result.value };
    };
  if (!isInteropZodSchema(schema)) return undefined;
  return async (value) => {
    const result = await interopSafeParseAsync(schema, value);
    return result.success ? { value: result.data } : { problem: describeIssues(result.error.issues) };
  };
}

export function describeIssues(issues: NonNullable<Issues["issues"]>): string {
  return issues.map((issue) => [pathOf(issue.path), issue.message].filter(Boolean).join(": ")).join("; ");
}

function pathOf(path: readonly unknown[] = []): string {
  return path.map((part) => String((part as { key?: unknown })?.key ?? part)).join(".");
}
