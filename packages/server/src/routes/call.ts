/** Arguments and answers of routes: typed by their row in the protocol's table. */
import type { RouteName, RouteOf } from "@deepwright/protocol";
import type { z } from "zod";
import type { Caller } from "../http/authenticate.ts";
import type { HeldAnswer } from "../http/held-answer.ts";
import type { Held } from "../http/limits/held-bytes.ts";
import type { Services } from "./services.ts";

type Read<Schema> = Schema extends z.ZodType ? z.infer<Schema> : undefined;
type Part<Row, Key extends string> = Row extends { readonly [K in Key]: infer Schema }
  ? Read<Schema>
  : undefined;
type Body<Row> = Row extends { readonly bodyOptional: true }
  ? Part<Row, "body"> | undefined
  : Part<Row, "body">;

export interface Call<Name extends RouteName = RouteName> {
  readonly request: Request;
  readonly caller: Caller;
  /** Owner of everything this call makes and sees. */
  readonly owner: string;
  readonly parameters: Part<RouteOf<Name>, "parameters">;
  readonly query: Part<RouteOf<Name>, "query">;
  readonly body: Body<RouteOf<Name>>;
  readonly services: Services;
  /** Counts what the request holds in memory. */
  readonly held: Held;
  /** Breaks the connection off; absent where there is none, as in tests. */
  readonly cut: (() => void) | undefined;
}

/** A response, or a value of the route's schema; `undefined` is 204. */
type Answer<Name extends RouteName> =
  | Response
  | HeldAnswer
  | (RouteOf<Name>["answer"] extends z.ZodType ? z.input<RouteOf<Name>["answer"]> : undefined);

export type Handler<Name extends RouteName> = (call: Call<Name>) => Promise<Answer<Name>>;

/** The routes of one resource: every name that begins with it. */
export type Handlers<Resource extends string> = {
  readonly [Name in Extract<RouteName, `${Resource}.${string}`>]: Handler<Name>;
};
