/** Owners of records. */

/** The owner of a record: the identity from `authenticate`, or `local`. */
export type Owner = string;

/**
 * The owner of the server's own assistants: all callers see them, and none may change them. No client has this name.
 */
export const EVERYONE = "" satisfies Owner;
