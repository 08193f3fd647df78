/** Makes cassettes of threads and replays them. */
import { readFile } from "node:fs/promises";
import type { BaseMessage } from "@langchain/core/messages";
import { type Cassette, parseCassette, type RecordedRequest } from "./cassette.ts";
import { type Played, playTape, type TapeFault } from "./play-tape.ts";
import { differenceIn, keyedRequest } from "./request-key.ts";
import { tapeOf } from "./tape.ts";

export interface CassetteOptions {
  /** Stands in the cassette and in errors. */
  readonly name: string;
  /** Default: now. */
  readonly recordedAt?: Date;
}

/** A thread as a cassette: it is played once, and the requests that this version sends are kept. */
export async function cassetteOf(
  messages: readonly BaseMessage[],
  { name, recordedAt = new Date() }: CassetteOptions,
): Promise<Cassette> {
  const tape = tapeOf(name, messages);
  const requests: RecordedRequest[] = [];
  const texts: Record<string, string> = {};
  await playTape(tape, {
    onRequest: (_, request) => {
      const { key, parts, texts: own } = keyedRequest(request);
      requests.push({ key, parts: [...parts] });
      Object.assign(texts, own);
    },
  });
  return {
    format: "deepwright-cassette",
    version: 1,
    recordedAt: recordedAt.toISOString(),
    ...tape,
    requests,
    texts,
  };
}

/** The first request of a replay that is not the recorded one. */
export class CassetteDivergence extends Error {
  override readonly name = "CassetteDivergence";

  constructor(
    cassette: string,
    /** From 1. */
    readonly request: number,
    readonly difference: string,
  ) {
    super(`${cassette}: request ${request} is not the recorded one. ${difference}`);
  }
}

export interface ReplayOptions {
  /** A failure that happens once. Behind a killed tool requests are not compared: the model reads another result. */
  readonly fault?: TapeFault;
}

/** Replays a cassette, or the file of one, without a model. Throws `CassetteDivergence` at the first other request. */
export async function replayCassette(
  source: Cassette | URL | string,
  { fault }: ReplayOptions = {},
): Promise<Played> {
  const cassette = isCassette(source)
    ? source
    : parseCassette(await readFile(source, "utf8"), String(source));
  const { name, requests, texts } = cassette;
  const played = await playTape(cassette, {
    ...(fault === undefined ? {} : { fault }),
    onRequest: (index, request) => {
      if (fault?.kind === "killed-tool") return;
      const recorded = requests[index];
      if (recorded === undefined)
        throw new CassetteDivergence(name, index + 1, "The recording has no such request.");
      const difference = differenceIn(recorded, texts, keyedRequest(request));
      if (difference !== undefined) throw new CassetteDivergence(name, index + 1, difference);
    },
  });
  if (played.requests < requests.length)
    throw new CassetteDivergence(name, played.requests + 1, "The run ended before it.");
  return played;
}

function isCassette(source: Cassette | URL | string): source is Cassette {
  return typeof source === "object" && !(source instanceof URL);
}
