/** Says for each line of a file which step wrote it, by whose call, and what was asked before. */

import { DeepwrightError } from "deepwright/errors";
import { undoTreeName, WorkTree } from "deepwright/internal";
import { diffArrays } from "diff";
import type { StoredImage } from "../../saver/file-image.ts";
import type { SharedSaver } from "../../saver/shared-saver.ts";
import { COMMAND, DISK, listImages } from "../images.ts";
import { lineageOf } from "../lineage.ts";
import { goneOnFrom } from "../rewind.ts";
import { stepsOf } from "../steps.ts";
import { StateReader, type StoredState } from "../stored-state.ts";
import type { Blame, BlameAuthor, BlameLine, ThreadStep } from "../threads.ts";
import { linesOf } from "./merge.ts";
import { type Entry, type FileTimeline, type Link, timelines } from "./timeline.ts";

/** A line, and the change that wrote it; absent: it was there before, or somebody else wrote it. */
interface OwnedLine {
  readonly text: string;
  readonly link?: Link | undefined;
}

/** `root` is the directory that the path is in. The file as it is there now is looked at. */
export async function blameFile(
  saver: SharedSaver,
  threadId: string,
  path: string,
  root: string,
): Promise<Blame> {
  const place = undoTreeName(root);
  const wanted = `/${path}`.replaceAll(/\/(\.?\/)+/g, "/");
  const images = await listImages(saver, threadId);
  const file = timelines(images).find((one) => one.place === place && one.path === wanted);
  if (file === undefined)
    throw new DeepwrightError("INVALID_INPUT", `The thread did not change '${path}' in this directory.`);
  const reader = new StateReader(saver.storage, false);
  const { states } = await lineageOf(saver.storage, reader, threadId);
  const done = goneOnFrom(states);
  const links = file.links.filter((link) => link.by.kind !== "rewind" && done.has(link.checkpointId));
  const lines = await owned({ ...file, links }, new WorkTree(place.slice(DISK.length)));
  const authors = await authorsOf(saver, threadId, images, states);
  return { path: wanted, place, lines: lines.map((line, i) => blameLine(line, i + 1, authors)) };
}

async function owned({ path, links }: FileTimeline, tree: WorkTree): Promise<readonly OwnedLine[]> {
  let lines = textLines(await links[0]?.before()).map((text): OwnedLine => ({ text }));
  for (const link of links) {
    // What nobody recorded in between is somebody else's.
    lines = follow(lines, textLines(await link.before()), undefined);
    lines = follow(lines, textLines(await link.after()), link.by.kind === "outside" ? undefined : link);
  }
  const { entry } = await tree.read(path);
  return follow(lines, textLines(entry), undefined);
}

function textLines(entry: Entry): string[] {
  return entry?.type === "file" && typeof entry.content === "string" ? linesOf(entry.content) : [];
}

/** The search for common lines ends after this time; lines behind it belong to the newer change. */
const SEARCH_MS = 200;

function follow(lines: readonly OwnedLine[], next: readonly string[], link: Link | undefined): OwnedLine[] {
  const before = lines.map(({ text }) => text);
  const parts = diffArrays(before, [...next], { timeout: SEARCH_MS });
  if (parts === undefined) return next.map((text) => ({ text, link }));
  const followed: OwnedLine[] = [];
  let at = 0;
  for (const { added, removed, value } of parts) {
    if (added) followed.push(...value.map((text) => ({ text, link })));
    else {
      if (!removed) followed.push(...lines.slice(at, at + value.length));
      at += value.length;
    }
  }
  return followed;
}

function blameLine({ text, link }: OwnedLine, line: number, authors: Authors): BlameLine {
  const content = text.replace(/\r?\n$/, "");
  return link === undefined ? { line, text: content } : { line, text: content, by: authors.of(link) };
}

/** `states` are those of the thread's lineage. */
export async function authorsOf(
  saver: SharedSaver,
  threadId: string,
  images: readonly StoredImage[],
  states: readonly StoredState[],
): Promise<Authors> {
  const { steps } = await stepsOf(saver.storage, threadId);
  return new Authors(steps, images, new Map(states.map(({ row }) => [row.parent ?? "", row.id])));
}

/** Facts of a change for people, found once. */
export class Authors {
  readonly #known = new Map<Link, BlameAuthor>();

  constructor(
    private readonly steps: readonly ThreadStep[],
    private readonly images: readonly StoredImage[],
    /** Checkpoints by the one before them. */
    private readonly next: ReadonlyMap<string, string>,
  ) {}

  of(link: Link): BlameAuthor {
    const known = this.#known.get(link) ?? this.#find(link);
    this.#known.set(link, known);
    return known;
  }

  #find({ checkpointId, at, by }: Link): BlameAuthor {
    const index = this.steps.findIndex((step) => step.checkpointId === this.next.get(checkpointId));
    const before = this.steps.slice(0, index < 0 ? undefined : index + 1);
    const input = before.findLastIndex(({ source }) => source === "input");
    // The message is taken into the thread by the step behind its input.
    const prompt = input < 0 ? undefined : this.steps.slice(input).find(({ summary }) => summary !== "");
    const command = this.images.findLast(
      (image) =>
        image.place.startsWith(COMMAND) && image.checkpointId === checkpointId && image.by?.call === by.call,
    );
    const step = this.steps[index];
    return {
      ...(step && { step: step.step }),
      checkpointId,
      at: new Date(at).toISOString(),
      ...(by.kind === "restore" && { isRestore: true }),
      ...(by.call && { call: by.call }),
      ...(by.agent && { agent: by.agent }),
      ...(by.task && { task: by.task }),
      ...(command && { command: command.path }),
      ...(prompt?.summary && { prompt: prompt.summary }),
    };
  }
}
