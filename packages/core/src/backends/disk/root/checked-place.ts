/** Where a path leads, once it is certain that the call may go there. */
import type { FileError } from "../../backend.ts";
import type { OpenCheck } from "../../open-check.ts";
import type { ContainedRoot } from "./contained-root.ts";
import type { Nowhere, Place, ResolveOptions } from "./path-walk.ts";

export interface PlaceRequest {
  readonly root: ContainedRoot;
  /** Canonical. */
  readonly path: string;
  /** Asked about the path after links. */
  readonly openCheck?: OpenCheck | undefined;
  /** A link on the way is an error. */
  readonly refuseLinks?: boolean | undefined;
}

/** The directory that the check was about is held open: whoever uses the place uses that one. */
export async function checkedPlace(
  { root, path, openCheck, refuseLinks }: PlaceRequest,
  options: ResolveOptions = {},
): Promise<Place | Nowhere | FileError> {
  const place = root.resolve(path, { refuseLinks, ...options });
  try {
    const refused = await openCheck?.at(place.path, path);
    if (refused === undefined) return place;
    place.directory?.close();
    return refused;
  } catch (error) {
    place.directory?.close();
    throw error;
  }
}
