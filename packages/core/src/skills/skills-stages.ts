/**
 * Skills inside the loop: the prompt lists them as they are when a run begins, and they are read again after the agent
 * may have changed them. Only the text about such a change is stored with the thread.
 */

import type { ToolCall, ToolMessage } from "@langchain/core/messages";
import type { BackendSource } from "../backends/resolve.ts";
import { windowOf } from "../context/tokens/token-meter.ts";
import { graphNamespace } from "../engine/engine.ts";
import type { Stages, StageTask } from "../loop/contract/stages.ts";
import { type Messages, withId } from "../loop/messages/messages.ts";
import { isReminded, REMINDERS } from "../loop/messages/reminders.ts";
import { canonicalPath, isWithin } from "../paths.ts";
import { textHash } from "../text/text-hash.ts";
import { type Catalog, SkillLoader } from "./load-skills.ts";
import { changeWords } from "./skill-changes.ts";
import { type SkillWarning, warning } from "./skill-metadata.ts";
import { DEFAULT_LIST_TOKENS, skillsData, skillsSection } from "./skills-section.ts";

export interface SkillStagesOptions {
  readonly backend?: BackendSource | undefined;
  readonly sources: readonly string[];
  /** Absent: the default, or a tenth of a small window. */
  readonly listTokens?: number | undefined;
  /** Whether the present content of this source is untrusted. Absent: all sources are trusted. */
  readonly isUntrusted?: ((source: string) => boolean | Promise<boolean>) | undefined;
  /** Called once for each warning of this agent, over all runs. */
  onWarning(warning: SkillWarning): void;
}

/** Skills of the system prompt, and untrusted skills. A source is in one of the two. */
interface Found {
  readonly trusted: Catalog;
  readonly data: Catalog;
}

/** Skills that one run was shown. */
interface RunSkills {
  readonly listed: Promise<Found>;
  /** The list with the changes that the model has read since. */
  announced: Promise<Found>;
}

export function createSkillStages(options: SkillStagesOptions): Stages {
  if (options.sources.length === 0) return {};
  const skills = new AgentSkills(options);
  return {
    section: (visible, task) => (visible.has("read_file") ? skills.section(visible, task) : ""),
    result: (message, call, task) => skills.afterCall(message, call, task),
  };
}

class AgentSkills {
  readonly #options: SkillStagesOptions;
  /** By the sources they load. */
  readonly #loaders = new Map<string, SkillLoader>();
  readonly #warned = new Set<string>();
  /** Per run, and per graph within it: a child run by a tool is a run of its own. */
  readonly #runs = new WeakMap<object, Map<string, RunSkills>>();

  constructor(options: SkillStagesOptions) {
    this.#options = options;
  }

  async section(visible: ReadonlySet<string>, task: StageTask): Promise<string> {
    const graphs = this.#graphsOf(task);
    const namespace = graphNamespace(task.config);
    const run = graphs.get(namespace) ?? this.#begin(task);
    graphs.set(namespace, run);
    try {
      const { trusted, data } = await run.listed;
      const tokens = await this.#listTokens(task);
      if (data.sources.length > 0) remindOfData(skillsData(data, visible, tokens), task);
      return skillsSection(trusted, visible, tokens);
    } catch (error) {
      if (graphs.get(namespace) === run) graphs.delete(namespace);
      throw error;
    }
  }

  /** The user's limit, or a tenth of the window at most. */
  async #listTokens(task: StageTask): Promise<number> {
    const { listTokens } = this.#options;
    if (listTokens !== undefined) return listTokens;
    const model = await task.model();
    const window = (model && windowOf(model)) ?? Number.POSITIVE_INFINITY;
    return Math.min(DEFAULT_LIST_TOKENS, Math.floor(window / 10));
  }

  async afterCall(message: ToolMessage, call: ToolCall, task: StageTask): Promise<ToolMessage> {
    const run = this.#graphsOf(task).get(graphNamespace(task.config));
    if (run === undefined) return message;
    const { trusted, data } = await run.listed;
    if (!this.#mayChangeSkills(message, call, [...trusted.sources, ...data.sources])) return message;
    const before = run.announced;
    const after = this.#loadAgain(task, before);
    // Calls of one turn come here at the same time: each is compared with the one before it.
    run.announced = after;
    after.catch(() => {});
    const [old, now] = [await before, await after];
    const words = changeWords(old.trusted, now.trusted);
    const ofData = changeWords(old.data, now.data);
    if (words === undefined && ofData === undefined) return message;
    const placed = withId(message);
    const id = placed.id as string;
    if (words !== undefined) task.remind({ id: `skills-${id}`, after: id, text: words });
    if (ofData !== undefined) task.remind({ id: `skills-data-${id}`, after: id, text: ofData, isData: true });
    return placed;
  }

  #begin(task: StageTask): RunSkills {
    const listed = this.#load(task);
    return { listed, announced: listed };
  }

  async #load(task: StageTask): Promise<Found> {
    const { sources, isUntrusted } = this.#options;
    const untrusted = await Promise.all(
      sources.map(async (source) => (await isUntrusted?.(source)) ?? false),
    );
    const [trusted, data] = await Promise.all([
      this.#catalogOf(
        sources.filter((_, i) => !untrusted[i]),
        task,
      ),
      this.#catalogOf(
        sources.filter((_, i) => untrusted[i]),
        task,
      ),
    ]);
    return { trusted, data };
  }

  async #catalogOf(sources: readonly string[], task: StageTask): Promise<Catalog> {
    const key = JSON.stringify(sources);
    const loader = this.#loaders.get(key) ?? new SkillLoader(this.#options.backend, sources);
    this.#loaders.set(key, loader);
    const catalog = sources.length === 0 ? NONE : await loader.load(task.runtime, task.signal);
    for (const found of catalog.warnings) {
      const key = `${found.code} ${found.message}`;
      if (this.#warned.has(key)) continue;
      this.#warned.add(key);
      this.#options.onWarning(found);
    }
    return catalog;
  }

  /** A failure to read skills does not undo the finished call. */
  async #loadAgain(task: StageTask, before: Promise<Found>): Promise<Found> {
    const known = await before;
    try {
      return await this.#load(task);
    } catch (error) {
      if (task.signal?.aborted) throw error;
      const [path = "/"] = this.#options.sources;
      this.#options.onWarning(warning("SOURCE_UNREADABLE", path, `cannot be listed: ${String(error)}`));
      return known;
    }
  }

  #graphsOf({ config }: StageTask): Map<string, RunSkills> {
    const key = config.control ?? config.configurable ?? config;
    const graphs = this.#runs.get(key) ?? new Map<string, RunSkills>();
    this.#runs.set(key, graphs);
    return graphs;
  }

  #mayChangeSkills(message: ToolMessage, { name, args }: ToolCall, sources: readonly string[]): boolean {
    if (name === "execute") return mentions(String(args.command ?? ""), sources);
    if (!CHANGING_TOOLS.has(name) || message.status === "error") return false;
    const given = String(args.file_path ?? args.path ?? "");
    const { path } = canonicalPath(given);
    // A relative path lies in a directory that only the backend knows.
    if (path === undefined || !given.startsWith("/")) return path !== undefined;
    return sources.some((source) => isWithin(path, source) || isWithin(source, path));
  }
}

const NONE: Catalog = { groups: [], warnings: [], sources: [] };

/** Once in a thread, until it changes or the place is gone. */
function remindOfData(text: string, task: StageTask): void {
  const after = (task.read("messages") as Messages | undefined)?.at(-1)?.id;
  const id = `skills-data-${textHash(text)}`;
  if (text === "" || after === undefined || isReminded(task.read(REMINDERS), id)) return;
  task.remind({ id, after, text, isData: true });
}

const CHANGING_TOOLS: ReadonlySet<string> = new Set(["write_file", "edit_file", "delete"]);

/** Commands are not parsed; a command about skills nearly always names them. */
function mentions(command: string, sources: readonly string[]): boolean {
  const text = command.toLowerCase();
  return (
    text.includes("skill") ||
    sources.some((source) => text.includes(source.slice(source.lastIndexOf("/") + 1).toLowerCase()))
  );
}
