import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, test } from "vitest";
import { openApiDocument, type Route, routes } from "./index.ts";

const document = openApiDocument({ version: "1.2.3" });
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

test("the table of routes is a valid OpenAPI 3.1 document, every reference in it leads somewhere", async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(JSON.parse(JSON.stringify(document)));
  expect(errors ?? []).toEqual([]);
  expect(valid).toBe(true);
  expect(validator.version).toBe("3.1");
  for (const [, name] of JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g))
    expect(document.components.schemas[name as string], name).toBeTypeOf("object");
});

test("every route is in it with its sentence, its ids and its problems", () => {
  expect(operations.map(({ operationId }) => operationId).toSorted()).toEqual(
    routes.map(({ name }) => name).toSorted(),
  );
  for (const { name, summary, path } of routes as readonly Route[]) {
    const operation = operations.find(({ operationId }) => operationId === name);
    expect(operation?.summary).toBe(summary);
    const ids = [...path.matchAll(/:([a-z_]+)/g)].map(([, id]) => id);
    const given = operation?.parameters?.filter((parameter) => parameter.in === "path") ?? [];
    expect(given.map((parameter) => parameter.name)).toEqual(ids);
    if (ids.length > 0) expect(operation?.responses).toHaveProperty("404");
  }
});

test("text in a query is shown as what it means", () => {
  const list = operations.find(({ operationId }) => operationId === "runs.list");
  const shown = Object.fromEntries(list?.parameters?.map(({ name, schema }) => [name, schema]) ?? []);
  expect(shown.limit).toEqual({ type: "integer", minimum: 1, maximum: 1000, default: 10 });
  expect(shown.select).toMatchObject({ type: "array", items: { enum: expect.arrayContaining(["status"]) } });
  const cancel = operations.find(({ operationId }) => operationId === "runs.cancel");
  expect(cancel?.parameters?.find(({ name }) => name === "wait")).toMatchObject({
    required: false,
    schema: { type: "boolean", default: false },
  });
});

test("what has a default may be left out by clients, and is always there in answers", () => {
  const { SearchThreads, Thread } = document.components.schemas;
  expect(SearchThreads?.required ?? []).not.toContain("limit");
  expect(Thread?.required).toContain("interrupts");
});

test("listings say what the header of the next page is handed back as", () => {
  const headersOf = (name: string) =>
    operations.find(({ operationId }) => operationId === name)?.responses["200"]?.headers;
  for (const [name, field] of [
    ["threads.search", "`offset`"],
    ["threads.history", "`before`"],
    ["runs.list", "`offset`"],
  ] as const)
    expect(headersOf(name)?.["X-Pagination-Next"]?.description).toContain(field);
  expect(headersOf("threads.get")).toBeUndefined();
});
