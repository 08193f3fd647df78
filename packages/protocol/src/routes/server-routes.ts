import { info, ok, openApi } from "../server.ts";
import type { Route } from "./route.ts";

export const serverRoutes = [
  {
    name: "server.ok",
    method: "GET",
    path: "/ok",
    summary: "Says that the server is there.",
    answer: ok,
    standard: true,
  },
  {
    name: "server.info",
    method: "GET",
    path: "/info",
    summary: "Says which version the server has and what it can do.",
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
] as const satisfies readonly Route[];
