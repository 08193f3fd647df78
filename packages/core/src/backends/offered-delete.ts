/** Whether a backend's `delete` passes the same checks as its `write` and `edit`. */
import type { BackendProtocol } from "./backend.ts";

/**
 * A subclass that overrides `write` or `edit` often refuses something there. An inherited `delete` would pass by that
 * check, so it is offered only when the subclass overrides it too.
 */
export function offersDelete(
  backend: BackendProtocol,
): backend is BackendProtocol & Required<Pick<BackendProtocol, "delete">> {
  if (typeof backend.delete !== "function") return false;
  const deletes = levelsOf(backend, "delete")[0] as number;
  return (["write", "edit"] as const).every((method) => {
    const levels = levelsOf(backend, method);
    // A class that sets `delete` in its constructor does so for its subclasses too.
    return deletes === 0 ? levels.length <= 1 || levels[0] === 0 : (levels[0] as number) >= deletes;
  });
}

/** The steps up the prototype chain at which the object defines the method; 0 is the object itself. */
function levelsOf(backend: object, method: string): number[] {
  const levels: number[] = [];
  let level = 0;
  for (let at: object | null = backend; at !== null; at = Object.getPrototypeOf(at), level += 1)
    if (Object.hasOwn(at, method)) levels.push(level);
  return levels;
}
