/** Owners of records. */

/** Who something belongs to: what `authenticate` said, or `local`. */
export type Owner = string;

/** The owner of the server's own assistants, which everyone sees and nobody else may change. No client has this name. */
export const EVERYONE = "" satisfies Owner;
