/** Texts of undo. They are loaded with it. */

const files = (amount: number): string => `${amount} ${amount === 1 ? "file" : "files"}`;

export const undoWords = {
  titles: {
    file: "Undo the changes of one file",
    call: "Undo one call",
    step: "Undo one step",
    agent: "Undo the work of a subagent",
    "since-message": "Undo everything since this message",
    "since-call": "Undo everything since this call",
    since: "Undo everything since this step",
    last: "Undo the last step that changed files",
    all: "Undo all changes of this thread",
  },
  looking: "Looking at the files…",
  nothing: "There is nothing to put back. The files are as they were before.",
  noMessageStep: "This message has no step of its own. Undo from the message before it.",
  noCallStep: "The step of this call is not known.",
  noStep: "This thread has changed no files.",
  messagesToo: "Also take back the messages since then",
  running: "The thread is running. Stop it, or wait for its end.",
  willChange: (amount: number) => `${files(amount)} on disk will change`,
  hasChanged: (amount: number) => `${files(amount)} put back`,
  stays: (amount: number) => `${files(amount)} changed by somebody else: not overwritten`,
  notCovered: (amount: number) => `${amount} not covered`,
  kinds: { created: "comes back", changed: "changes", deleted: "is removed" } as Readonly<
    Record<string, string>
  >,
  doneKinds: { created: "came back", changed: "changed", deleted: "removed" } as Readonly<
    Record<string, string>
  >,
  willBeBeside: (name: string) => `The earlier content will be put beside it, as ${name}.`,
  isBeside: (name: string) => `The earlier content is beside it, as ${name}.`,
  noText: "This is no text.",
  putBack: "Put back",
  takeBack: "Put back, with messages",
  messagesGone: "The messages were taken back.",
  messagesStay: "Messages stay. Your own later edits are kept.",
  undoRestore: "Undo the restore",
  undone: "The restore was undone.",

  written: { created: "new", changed: "changed", deleted: "deleted" } as Readonly<Record<string, string>>,
  allFiles: "Files",
  steps: "Steps",
  step: (number: number) => `Step ${number}`,
  undoAll: "Undo all…",
  undoFile: (path: string) => `Undo changes of ${path}`,
  lookAt: "Look at this step",
  undoStep: "Undo this step…",
  undoSince: "Undo from here…",
  undoShort: "Undo…",
  isUndone: "undone",
  inThread: "in the thread",
  moreFiles: (amount: number) => `and ${files(amount)} more`,
} as const;
