/** The model asks for a compaction by calling this tool. Its result is recognised later. */

export const COMPACT_TOOL = "compact_conversation";

/** The result of a call that will be followed. */
export const COMPACTION_REQUESTED =
  "The earlier part of the conversation is replaced by a summary before you go on.";

export const NOTHING_TO_COMPACT = "There is nothing to compact: the conversation is short.";
