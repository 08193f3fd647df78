/** The counter file: what tools and models did to the world, whatever became of their process. */
import { appendFileSync, existsSync, readFileSync } from "node:fs";

export interface Effect {
  readonly kind: "begin" | "end" | "model" | "said" | "again";
  /** `turn.index` of a call in its run, or the turn of a model. */
  readonly place: string;
  /** The id of the call, the same whenever it runs again; `-` for a model. */
  readonly id: string;
  readonly pid: number;
}

/** Effects that change the world or cost money; the end of something begun is not an act. */
export function isAct({ kind }: Effect): boolean {
  return kind === "begin" || kind === "model";
}

/** Lines are short and appended in one write, so those of several processes do not mix. */
export function recordEffect(log: string, kind: Effect["kind"], place: string, id = "-"): void {
  appendFileSync(log, `${kind} ${place} ${id} ${process.pid}\n`);
}

export function effectsIn(log: string): Effect[] {
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => {
    const [kind, place = "", id = "", pid] = line.split(" ");
    return { kind: kind as Effect["kind"], place, id, pid: Number(pid) };
  });
}

export function countBy(effects: readonly Effect[], key: (effect: Effect) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const effect of effects) counts.set(key(effect), (counts.get(key(effect)) ?? 0) + 1);
  return counts;
}
