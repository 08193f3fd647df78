import { z } from "zod";
import { countCrons, createCron, cron, searchCrons, updateCron } from "../crons.ts";
import { count } from "../ids.ts";
import { ids, type Route } from "./route.ts";

const one = ids("cron_id");

export const cronRoutes = [
  {
    name: "crons.createForThread",
    method: "POST",
    path: "/threads/:thread_id/runs/crons",
    summary: "Creates a cron whose runs share a thread.",
    parameters: ids("thread_id"),
    body: createCron,
    answer: cron,
    standard: true,
  },
  {
    name: "crons.create",
    method: "POST",
    path: "/runs/crons",
    summary: "Creates a cron whose runs each have a thread of their own.",
    body: createCron,
    answer: cron,
    problems: ["NOT_FOUND"],
    standard: true,
  },
  {
    name: "crons.search",
    method: "POST",
    path: "/runs/crons/search",
    summary: "Lists crons, a page at a time.",
    body: searchCrons,
    bodyOptional: true,
    answer: z.array(cron),
    pages: "offset",
    standard: true,
  },
  {
    name: "crons.count",
    method: "POST",
    path: "/runs/crons/count",
    summary: "Counts crons.",
    body: countCrons,
    bodyOptional: true,
    answer: count,
    standard: true,
  },
  {
    name: "crons.update",
    method: "PATCH",
    path: "/runs/crons/:cron_id",
    summary: "Changes a cron, its schedule or its run.",
    parameters: one,
    body: updateCron,
    answer: cron,
    standard: true,
  },
  {
    name: "crons.delete",
    method: "DELETE",
    path: "/runs/crons/:cron_id",
    summary: "Removes a cron; runs it began go on.",
    parameters: one,
    answer: "nothing",
    standard: true,
  },
] as const satisfies readonly Route[];
