/** The table of routes as an OpenAPI 3.1 document: what the server answers at `/openapi.json`, and the reference is made of. */
import { HEADER } from "./headers.ts";
import { type JsonSchema, refTo, type Shapes, shapesOf } from "./openapi/shapes.ts";
import { PROBLEM_MEANING, PROBLEM_STATUS, type ProblemCode } from "./problems.ts";
import type { Route } from "./routes/route.ts";
import { routes } from "./routes.ts";

export type { JsonSchema } from "./openapi/shapes.ts";

export interface OpenApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

interface Content {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

export interface OpenApiOperation {
  /** The name of the route. */
  readonly operationId: string;
  /** Its resource. */
  readonly tags: readonly string[];
  readonly summary: string;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: Omit<Content, "description"> & { readonly required: boolean };
  /** By status. */
  readonly responses: Readonly<Record<string, Content>>;
  /** Whether LangGraph's servers have it too. */
  /** Empty: no token is needed. Absent: as the document says. */
  readonly security?: readonly object[];
  readonly "x-standard": boolean;
  /** The codes of its problems. */
  readonly "x-problems": readonly ProblemCode[];
}

export interface OpenApiDocument {
  readonly openapi: "3.1.0";
  readonly info: { readonly title: string; readonly version: string };
  /** Path → method in small letters → operation. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
  readonly security: readonly object[];
}

/** Made anew at each call. Schemas have the names of their types. */
export function openApiDocument({ version }: { readonly version: string }): OpenApiDocument {
  const shapes = shapesOf(routes);
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const route of routes as readonly Route[]) {
    const path = route.path.replace(/:([a-z_]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, shapes) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Deepwright", version },
    paths,
    components: {
      schemas: shapes.named,
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer" },
        apiKey: { type: "apiKey", in: "header", name: HEADER.apiKey },
      },
    },
    security: [{ bearer: [] }, { apiKey: [] }],
  };
}

/** Problems of a route: those of every route, those of its input, and its own. */
export function problemsOf({ parameters, method, problems = [] }: Route): ProblemCode[] {
  const codes = new Set<ProblemCode>(["INVALID_REQUEST", "UNAUTHENTICATED", "FORBIDDEN", ...problems]);
  if (parameters) codes.add("NOT_FOUND");
  if (method !== "GET") codes.add("UNSUPPORTED_MEDIA_TYPE");
  if (method !== "GET" || parameters) codes.add("TOO_LARGE");
  for (const code of ["RATE_LIMITED", "INTERNAL", "UNAVAILABLE"] as const) codes.add(code);
  return [...codes].sort((left, right) => PROBLEM_STATUS[left] - PROBLEM_STATUS[right]);
}

function operationOf(route: Route, shapes: Shapes): OpenApiOperation {
  const { name, summary, body, bodyOptional, standard } = route;
  const parameters = [
    ...fieldsOf(route, "parameters", shapes),
    ...fieldsOf(route, "query", shapes),
    ...headersOf(route),
  ];
  return {
    operationId: name,
    tags: [name.slice(0, name.indexOf("."))],
    summary,
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: { required: !bodyOptional, content: json(shapes.of(route, "body")) },
    }),
    responses: { ...answersOf(route, shapes), ...refusalsOf(route) },
    ...(route.open && { security: [] }),
    "x-standard": standard,
    "x-problems": problemsOf(route),
  };
}

const json = (schema: JsonSchema) => ({ "application/json": { schema } });

function fieldsOf(route: Route, part: "parameters" | "query", shapes: Shapes): OpenApiParameter[] {
  if (!route[part]) return [];
  const { properties = {}, required = [] } = shapes.of(route, part) as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
    readonly required?: readonly string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: part === "query" ? "query" : "path",
    required: part === "parameters" || required.includes(name),
    ...(description !== undefined && { description: String(description) }),
    schema,
  }));
}

/** Whether it begins runs under a key of the client's. */
const takesKey = ({ problems }: Route): boolean => problems?.includes("KEY_REUSED") ?? false;

function headersOf(route: Route): OpenApiParameter[] {
  const header = (name: string, description: string): OpenApiParameter => ({
    name,
    in: "header",
    required: false,
    description,
    schema: { type: "string" },
  });
  return [
    ...(takesKey(route)
      ? [header(HEADER.idempotencyKey, "The same key again is answered with the same run for a day.")]
      : []),
    ...(route.answer === "events" && route.method === "GET"
      ? [header(HEADER.lastEventId, "The id of the last event that was seen: the stream goes on behind it.")]
      : []),
  ];
}

function answersOf(route: Route, shapes: Shapes): Record<string, Content> {
  switch (route.answer) {
    case "nothing":
      return { "2XX": { description: "Done: 204, or 202 for what goes on afterwards." } };
    case "events":
      return {
        "200": {
          description: "Server-sent events.",
          content: { "text/event-stream": { schema: { type: "string" } } },
        },
      };
    case "bytes":
      return {
        "200": {
          description: "The file as it is.",
          content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
        },
      };
    default:
      return {
        "200": { description: "The answer.", ...pagesOf(route), content: json(shapes.of(route, "answer")) },
      };
  }
}

function pagesOf({ pages }: Route): Pick<Content, "headers"> {
  if (pages === undefined) return {};
  const description = `Where the next page begins: hand it back as \`${pages}\`. Absent on the last page.`;
  return { headers: { [HEADER.paginationNext]: { description, schema: { type: "string" } } } };
}

function refusalsOf(route: Route): Record<string, Content> {
  const words = new Map<number, string[]>();
  for (const code of problemsOf(route)) {
    const status = PROBLEM_STATUS[code];
    words.set(status, [...(words.get(status) ?? []), `\`${code}\`: ${PROBLEM_MEANING[code]}`]);
  }
  const content = json({ $ref: refTo("Problem") });
  return Object.fromEntries(
    [...words].map(([status, lines]) => [status, { description: lines.join(" "), content }]),
  );
}
