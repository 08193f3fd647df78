/** The script of the conformance tests over other versions of LangGraph's SDK, old and new. */
import { createRequire } from "node:module";
import type { Client } from "@langchain/langgraph-sdk";
import * as sdk10 from "langgraph-sdk-1.0";
import * as sdk18 from "langgraph-sdk-1.8";
import * as sdk20 from "langgraph-sdk-2.0";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer, type TestServer, TOKEN } from "../server-for-tests.ts";
import { assistantScenarios } from "./assistants-for-tests.ts";
import { scenarios } from "./scenarios-for-tests.ts";
import { collected, notesOf, type Scenario, say } from "./talk-for-tests.ts";

interface Version {
  readonly name: string;
  readonly version: string;
  readonly Sdk: typeof Client;
  /** Methods that this version does not have; a scenario ends at the first of them. */
  readonly absent: readonly string[];
  /** Scenarios that need an option which this version does not send, with the option. */
  readonly unsent: Readonly<Record<string, string>>;
}

const VERSIONS: readonly Version[] = [
  {
    name: "langgraph-sdk-1.0",
    version: "1.0.3",
    Sdk: sdk10.Client as never,
    absent: ["crons.update", "runs.cancelMany", "threads.prune"],
    unsent: {
      "an assistant of one's own": "includePagination",
      "threads are searched by what runs left": "extract",
    },
  },
  {
    name: "langgraph-sdk-1.8",
    version: "1.8.10",
    Sdk: sdk18.Client as never,
    absent: [],
    unsent: { "the state of a thread and its history": "checkpointId of runs.stream" },
  },
  {
    name: "langgraph-sdk-2.0",
    version: "2.0.0",
    Sdk: sdk20.Client as never,
    absent: ["runs.cancelMany", "threads.prune"],
    unsent: { "threads are searched by what runs left": "extract" },
  },
];

describe.each(VERSIONS)("SDK $version", ({ name, version, Sdk, absent, unsent }) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer();
  });
  afterAll(() => server.close());

  test("the whole script is answered", async () => {
    const manifest = createRequire(import.meta.url)(`${name}/package.json`) as { version: string };
    expect(manifest.version).toBe(version);
    const known = { url: server.url, apiKey: TOKEN };
    const missing = new Set<string>();
    const failed: string[] = [];
    const play = async (scenario: Scenario) => {
      const notes = await notesOf(scenario, known, true, Sdk).catch((error: unknown) => {
        if (!Object.hasOwn(unsent, scenario.name)) throw error;
        failed.push(scenario.name);
        return [];
      });
      for (const { method, answer } of notes) if (Object.keys(answer).length === 0) missing.add(method);
    };
    // Those about assistants count what is there, so they wait for each other.
    const isAbout = (scenario: Scenario) => assistantScenarios.includes(scenario);
    const inTurn = async () => {
      for (const scenario of assistantScenarios) if (!fails(scenario)) await play(scenario);
      for (const scenario of assistantScenarios) if (fails(scenario)) await play(scenario);
    };
    const fails = ({ name }: Scenario) => Object.hasOwn(unsent, name);
    await Promise.all([inTurn(), ...scenarios.filter((scenario) => !isAbout(scenario)).map(play)]);
    expect(failed.toSorted()).toEqual(Object.keys(unsent).toSorted());
    expect([...missing].toSorted()).toEqual(absent);
  });

  test("joinStream takes several modes", async () => {
    const client = new Sdk({ apiUrl: server.url, apiKey: TOKEN });
    const { thread_id: threadId } = await client.threads.create();
    const { run_id: runId } = await client.runs.create(threadId, "echo", {
      input: say("hi"),
      streamMode: ["values", "updates", "messages-tuple"],
      streamResumable: true,
    });
    const read = async (streamMode?: readonly string[]) => {
      const given = { lastEventId: "-1", streamMode: streamMode as never };
      const events = await collected(client.runs.joinStream(threadId, runId, given) as never);
      return new Set(events.map(({ event }) => event));
    };
    expect(await read(["values", "updates"])).toEqual(new Set(["metadata", "values", "updates", "end"]));
    expect(await read(["values"])).toEqual(new Set(["metadata", "values", "end"]));
  });
});
