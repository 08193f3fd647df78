import { describe, expect, it } from "vitest";
import { databaseName, databaseOf } from "./database.ts";

const URL = "postgres://user:secret@host:5432/threads?sslmode=require";

describe("where threads are kept", () => {
  it.each([
    ["nothing said", undefined, { HOME: "/h", DEEPWRIGHT_HOME: "/dw" }, "/dw/state.db"],
    ["a home of nothing", undefined, { DEEPWRIGHT_HOME: "/dw", DEEPWRIGHT_DB: "" }, "/dw/state.db"],
    ["a variable", undefined, { DEEPWRIGHT_HOME: "/dw", DEEPWRIGHT_DB: "/x.db" }, "/x.db"],
    ["an option", "/y.db", { DEEPWRIGHT_DB: "/x.db" }, "/y.db"],
    ["a password with an @", "postgres://u:p@ss@host/threads", {}, "postgres://host/threads"],
    ["a URL, whose password is not told", URL, {}, "postgres://host:5432/threads"],
  ])("%s", (_, given, environment, name) => {
    expect(databaseName(databaseOf(given, environment))).toBe(name);
  });

  it("no name is wrong usage", () => {
    expect(() => databaseOf("", { DEEPWRIGHT_DB: "/x.db" })).toThrow("The name of the database is empty.");
  });

  it("another kind of database is wrong usage", () => {
    expect(() => databaseOf("mysql://host/x", {})).toThrow("Unknown kind of database: 'mysql'.");
  });
});
