/** Writes docs/api.md from the protocol's table of routes and its schemas: `npm run docs:api`. */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import {
  EVENT_MODE,
  type EventKind,
  eventData,
  type JsonSchema,
  type OpenApiDocument,
  type OpenApiOperation,
  type OpenApiParameter,
  openApiDocument,
  PROBLEM_MEANING,
  PROBLEM_STATUS,
  type ProblemCode,
} from "@deepwright/protocol";
import { z } from "zod";

const TITLES: Readonly<Record<string, string>> = {
  assistants: "Assistants",
  threads: "Threads",
  runs: "Runs",
  crons: "Crons",
  store: "Store",
  approvals: "Approvals",
  approvalLinks: "Approval links",
  usage: "Usage",
  workspace: "Workspace",
  settings: "Settings",
  signIn: "Sign-in",
  a2a: "A2A",
  server: "Server",
};

const INTRODUCTION = `# API reference

Made from the schemas by \`npm run docs:api\`; the server checks requests by the same ones, and gives all of this as OpenAPI 3.1 at
\`GET /openapi.json\`. How to start a server is in [serve](serve.md), a walk through the routes in
[examples/api-with-curl.sh](../examples/api-with-curl.sh).

- Every request needs the token, as \`Authorization: Bearer …\` or \`X-Api-Key: …\`, or the cookie of a [session](serve.md#a-page). \`POST /sign-in\` needs none. Bodies and answers are JSON.
- An **id** is 1 to 128 letters, digits, or \`. _ : @ -\` between them. A **time** is ISO 8601. \`?\` marks what may be left out; null means the same there.
- Routes marked *own* are not in LangGraph's servers.
- What may refuse every request is not repeated at each route: see [problems](#problems).`;

const COMMON: ReadonlySet<ProblemCode> = new Set([
  "INVALID_REQUEST",
  "UNAUTHENTICATED",
  "FORBIDDEN",
  "TOO_LARGE",
  "UNSUPPORTED_MEDIA_TYPE",
  "RATE_LIMITED",
  "INTERNAL",
  "UNAVAILABLE",
]);

export function apiReference(): string {
  const document = openApiDocument({ version: "" });
  const shared = sharedSchemas(document);
  const show = (schema: JsonSchema): string => shown(schema, document, shared);
  const parts = Object.entries(TITLES).flatMap(([tag, title]) => [
    `## ${title}`,
    ...operations(document, tag).map(([place, operation]) => routeText(place, operation, show)),
  ]);
  return [
    INTRODUCTION,
    Object.entries(TITLES)
      .concat([
        ["schemas", "Schemas"],
        ["events", "Events"],
        ["problems", "Problems"],
      ])
      .map(([, title]) => `[${title}](#${title.toLowerCase()})`)
      .join(" · "),
    ...parts,
    "## Schemas",
    ...[...shared].sort().map((name) => schemaText(name, document)),
    eventsText(),
    problemsText(),
    "",
  ].join("\n\n");
}

function operations(document: OpenApiDocument, tag: string): [place: string, OpenApiOperation][] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags.includes(tag))
      .map(([method, operation]): [string, OpenApiOperation] => [
        `${method.toUpperCase()} ${path}`,
        operation,
      ]),
  );
}

/** What one route alone sends or is sent stands there; all others are for several places. */
function sharedSchemas(document: OpenApiDocument): Set<string> {
  const text = JSON.stringify(document);
  const uses = (name: string, before: string) =>
    text.split(`${before}{"$ref":"${PREFIX}${name}"}`).length - 1;
  const isAlone = (name: string) => uses(name, "") === 1 && uses(name, '"schema":') === 1;
  return new Set(Object.keys(document.components.schemas).filter((name) => !isAlone(name)));
}

const PREFIX = "#/components/schemas/";
const nameOf = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);

function routeText(place: string, operation: OpenApiOperation, show: (schema: JsonSchema) => string): string {
  const { summary, operationId, requestBody, parameters = [] } = operation;
  const own = operation["x-standard"] ? "" : " *own*";
  const body = requestBody?.content?.["application/json"]?.schema;
  const problems = operation["x-problems"].filter((code) => !COMMON.has(code));
  return [
    `### \`${place}\``,
    `${summary} \`${operationId}\`${own}`,
    parametersText(parameters),
    body && `**Body**${requestBody?.required ? "" : " (may be left out)"}: ${show(body)}`,
    `**Answer**: ${answerText(operation, show)}`,
    problems.length > 0 && `**Refused with**: ${problems.map((code) => `\`${code}\``).join(", ")}`,
  ]
    .filter(Boolean)
    .join("\n\n");
}

/** Ids in the path explain themselves. */
function parametersText(parameters: readonly OpenApiParameter[]): string {
  const rows = parameters
    .filter((parameter) => parameter.in !== "path" || parameter.schema.format !== "identifier")
    .map(({ name, in: where, required, schema, description = "" }) =>
      row([
        where,
        `\`${name}\`${required ? "" : "?"}`,
        typeText(schema, false),
        withDefault(description, schema),
      ]),
    );
  return rows.length === 0 ? "" : table(["in", "name", "type", ""], rows);
}

function answerText({ responses }: OpenApiOperation, show: (schema: JsonSchema) => string): string {
  const [status, { description = "", content = {} } = {}] =
    Object.entries(responses).find(([code]) => code.startsWith("2")) ?? [];
  if (status === "2XX") return "nothing";
  if ("text/event-stream" in content) return "[events](#events)";
  const schema = content["application/json"]?.schema;
  return schema ? show(schema) : description;
}

/** A reference to what is shared, a table of what stands only here, or a type in words. */
function shown(schema: JsonSchema, document: OpenApiDocument, shared: ReadonlySet<string>): string {
  const reference = schema.$ref === undefined ? undefined : nameOf(String(schema.$ref));
  if (reference !== undefined && shared.has(reference)) return linkTo(reference);
  const meant = reference === undefined ? schema : (document.components.schemas[reference] as JsonSchema);
  if (meant.properties === undefined)
    return [typeText(meant, true), meant.description].filter(Boolean).join(". ");
  return fieldsText(meant, document) || `an object\n\n${fieldsTable(meant)}`;
}

function schemaText(name: string, document: OpenApiDocument): string {
  const schema = document.components.schemas[name] as JsonSchema;
  const fields = (name !== BASE && fieldsText(schema, document)) || fieldsTable(schema);
  return [`### ${name}`, schema.description, fields].filter(Boolean).join("\n\n");
}

/** What a cron is made of besides its schedule. */
const BASE = "CreateRun";

/** Where most fields are those of a run: that, and the others. */
function fieldsText(schema: JsonSchema, { components }: OpenApiDocument): string {
  const fields = schema.properties as Readonly<Record<string, JsonSchema>>;
  const base = components.schemas[BASE]?.properties as Readonly<Record<string, JsonSchema>>;
  const [taken, missing] = [
    Object.keys(base).filter((name) => name in fields),
    Object.keys(base).filter((name) => !(name in fields)),
  ];
  if (taken.length < Object.keys(base).length / 2) return "";
  const without = missing.map((name) => `\`${name}\``).join(", ");
  const own = Object.entries(fields).filter(([name]) => !(name in base));
  return `The fields of ${linkTo(BASE)}${without && ` without ${without}`}, and\n\n${fieldsTable({ ...schema, properties: Object.fromEntries(own) })}`;
}

function fieldsTable(schema: JsonSchema): string {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  const rows = Object.entries(properties).map(([name, field]) => {
    const isRequired = required.includes(name);
    const words = isRequired ? descriptionOf(field) : withDefault(descriptionOf(field), field);
    return row([`\`${name}\`${isRequired ? "" : "?"}`, typeText(field, isRequired), words]);
  });
  return table(["field", "type", ""], rows);
}

/** Of the field itself, or of what it may be beside null. */
function descriptionOf(field: JsonSchema): string {
  const inner = (field.anyOf ?? []) as readonly JsonSchema[];
  return String(field.description ?? inner.find(({ description }) => description)?.description ?? "");
}

function withDefault(words: string, schema: JsonSchema): string {
  if (schema.default === undefined || words.includes("Default")) return words;
  return [words, `Default \`${JSON.stringify(schema.default)}\`.`].filter(Boolean).join(" ");
}

/** A schema in a few words. `showsNull`: null is something else than leaving it out. */
function typeText(schema: JsonSchema, showsNull: boolean): string {
  const { $ref, anyOf, type, format, items, properties } = schema as {
    readonly $ref?: string;
    readonly anyOf?: readonly JsonSchema[];
    readonly type?: string | readonly string[];
    readonly format?: string;
    readonly items?: JsonSchema;
    readonly properties?: Readonly<Record<string, JsonSchema>>;
  };
  if ($ref !== undefined) return linkTo(nameOf($ref));
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${value}\``).join(", ");
  const choices =
    anyOf ?? (Array.isArray(type) ? type.map((each: string) => ({ ...schema, type: each })) : undefined);
  if (choices)
    return choicesText(
      choices.filter((choice) => showsNull || choice.type !== "null"),
      showsNull,
    );
  if (format === "identifier") return "id";
  if (format === "date-time") return "time";
  if (type === "array") return items ? `list of ${typeText(items, true)}` : "list";
  if (properties) return `{${Object.keys(properties).join(", ")}}`;
  if (type === "integer" || type === "number") return numberText(schema);
  return typeof type === "string" ? type : "anything";
}

function choicesText(choices: readonly JsonSchema[], showsNull: boolean): string {
  const words = choices.map((choice) => typeText(choice, showsNull));
  const [one, many] = words;
  return many === `list of ${one}` ? `${one}; or a list of them` : words.join(" or ");
}

function numberText({ type, minimum, maximum }: JsonSchema): string {
  const known = (bound: unknown): bound is number =>
    typeof bound === "number" && Math.abs(bound) < 2 ** 53 - 1;
  const word = type === "integer" ? "integer" : "number";
  if (known(minimum) && known(maximum)) return `${word}, ${minimum} to ${maximum}`;
  return known(minimum) ? `${word}, at least ${minimum}` : word;
}

const linkTo = (name: string): string => `[${name}](#${name.toLowerCase()})`;
const row = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
const table = (names: readonly string[], rows: readonly string[]): string =>
  [row(names), `|${names.map(() => "---|").join("")}`, ...rows].join("\n");

function eventsText(): string {
  const rows = (Object.entries(eventData) as [EventKind, z.ZodType][]).map(([kind, schema]) => {
    const { description = "" } = z.toJSONSchema(schema, { io: "output" });
    return row([`\`${kind}\``, EVENT_MODE[kind] ? `\`${EVENT_MODE[kind]}\`` : "every one", description]);
  });
  return `## Events

A stream is \`text/event-stream\`: \`id\`, \`event\` and \`data\`, which is JSON. The id is a number that grows by one (in the stream of a
thread \`<run_id>:<number>.<place of the run>\`); sent back as \`Last-Event-ID\`, the stream goes on behind it. With \`stream_subgraphs\` the name of an event from
inside has its graphs behind it: \`updates|tools:1|agent:2\`. Lines that begin with \`:\` are signs of life.

${table(["event", "stream mode", "what it carries"], rows)}`;
}

function problemsText(): string {
  const rows = (Object.keys(PROBLEM_STATUS) as ProblemCode[]).map((code) =>
    row([String(PROBLEM_STATUS[code]), `\`${code}\``, PROBLEM_MEANING[code]]),
  );
  return `## Problems

A request that is refused is answered with a [Problem](#problem); \`code\` is stable.

${table(["status", "code", ""], rows)}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href)
  writeFileSync("docs/api.md", apiReference());
