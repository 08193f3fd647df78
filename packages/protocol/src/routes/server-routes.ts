import { info, ok, openApi, ready } from "../server.ts";
import type { Route } from "./route.ts";

export const serverRoutes = [
  {
    name: "server.ok",
    method: "GET",
    path: "/ok",
    summary: "Says that the server is there. Does not ask the database.",
    answer: ok,
    standard: true,
  },
  {
    name: "server.ready",
    method: "GET",
    path: "/ready",
    summary: "Says that the database answers too; 503 with the reason when it does not.",
    answer: ready,
    standard: false,
  },
  {
    name: "server.info",
    method: "GET",
    path: "/info",
    summary: "Returns the version of the server and its abilities.",
    answer: info,
    standard: true,
  },
  {
    name: "server.openapi",
    method: "GET",
    path: "/openapi.json",
    summary: "Gives this reference as an OpenAPI document.",
    answer: openApi,
    standard: true,
  },
  {
    name: "server.docs",
    method: "GET",
    path: "/docs",
    summary: "Shows this reference as a page without scripts.",
    answer: "bytes",
    standard: true,
  },
  {
    name: "server.metrics",
    method: "GET",
    path: "/metrics",
    summary: "Gives measurements of this process as text for Prometheus.",
    answer: "bytes",
    standard: true,
  },
] as const satisfies readonly Route[];
