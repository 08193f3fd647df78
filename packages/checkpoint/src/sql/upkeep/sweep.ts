/** Letting go of objects. */
import type { Work } from "../work.ts";

/** To be the first act of a transaction that is going to give up objects. */
export async function beginSweep({ session, dialect }: Work): Promise<void> {
  if (dialect.lockSweep !== undefined) await session.all(dialect.lockSweep);
}

/**
 * A thread gives up objects it owns: those others share go to one of them, the rest go away. Returns how
 * many went and their bytes.
 *
 * The objects are locked before it is looked up who shares them: a put that is about to share one of
 * them has either done so by then, or finds it gone.
 */
export async function giveUp(
  work: Work,
  owned: readonly number[],
): Promise<{ readonly objects: number; readonly bytes: number }> {
  if (owned.length === 0) return { objects: 0, bytes: 0 };
  const { session, dialect } = work;
  const lengths = await session.all(
    `SELECT id, octet_length(head) + COALESCE(octet_length(body), 0) AS bytes FROM dw_objects
      WHERE id ${dialect.among("$1")} ORDER BY id${dialect.lockObjects}`,
    [dialect.list(owned)],
  );
  const inherited = await handOver(work, owned);
  const gone = lengths.filter((row) => !inherited.has(row.id as number));
  await session.run(`DELETE FROM dw_objects WHERE id ${dialect.among("$1")}`, [
    dialect.list(gone.map((row) => row.id as number)),
  ]);
  return { objects: gone.length, bytes: gone.reduce((sum, row) => sum + (row.bytes as number), 0) };
}

/** The objects that found a new owner. */
async function handOver({ session, dialect }: Work, owned: readonly number[]): Promise<Set<number>> {
  const shared = await session.all(
    `SELECT object, MIN(thread) AS heir FROM dw_shares WHERE object ${dialect.among("$1")} GROUP BY object`,
    [dialect.list(owned)],
  );
  const ofHeir = new Map<number, number[]>();
  for (const { object, heir } of shared) {
    const objects = ofHeir.get(heir as number) ?? [];
    objects.push(object as number);
    ofHeir.set(heir as number, objects);
  }
  for (const [heir, objects] of ofHeir) {
    const list = dialect.list(objects);
    await session.run(`UPDATE dw_objects SET owner = $1 WHERE id ${dialect.among("$2")}`, [heir, list]);
    await session.run(`DELETE FROM dw_shares WHERE thread = $1 AND object ${dialect.among("$2")}`, [
      heir,
      list,
    ]);
  }
  return new Set(shared.map((row) => row.object as number));
}
