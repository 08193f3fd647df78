import { expect, test } from "vitest";
import { z } from "zod";
import { fillPath, type Route, routes } from "./index.ts";

const table: readonly Route[] = routes;

test("every route has a name, a place and a sentence of its own", () => {
  expect(new Set(table.map(({ name }) => name)).size).toBe(table.length);
  expect(new Set(table.map(({ method, path }) => `${method} ${path.replace(/:\w+/g, ":")}`)).size).toBe(
    table.length,
  );
  for (const { summary } of table) expect(summary).toMatch(/^[A-Z].*\.$/);
});

test("the names in a path and its parameters are the same", () => {
  for (const { path, parameters } of table)
    expect([...path.matchAll(/:([a-z_]+)/g)].map(([, name]) => name)).toEqual(
      Object.keys(parameters?.shape ?? {}),
    );
});

test("every schema can be written as JSON Schema, for the reference", () => {
  for (const { parameters, query, body, answer } of table)
    for (const schema of [parameters, query, body, typeof answer === "string" ? undefined : answer])
      if (schema) expect(z.toJSONSchema(schema, { io: "input" })).toBeTypeOf("object");
});

test("a body is there only where the method has one", () => {
  for (const { method, path, body } of table)
    if (body && method === "DELETE") expect(path).toBe("/store/items");
    else if (body) expect(method).not.toBe("GET");
});

test("what fills a path stays one part of it", () => {
  expect(fillPath("/threads/:thread_id/runs/:run_id", { thread_id: "a/b?c", run_id: "r" })).toBe(
    "/threads/a%2Fb%3Fc/runs/r",
  );
  expect(() => fillPath("/threads/:thread_id", { thread_id: ".." })).toThrow(TypeError);
  expect(() => fillPath("/threads/:thread_id", {})).toThrow("needs 'thread_id'");
});
