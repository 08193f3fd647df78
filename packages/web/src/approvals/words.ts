/** Texts of permissions for more than one call. */
const every = (tool: string): string => (tool === "execute" ? "any command" : `any ${tool}`);

export const words = {
  again: "Ask again",
  always: "Ask again every time",
  exactly: "Not about exactly this call, in this thread",
  commandsInThread: (begin: string) => `Not about commands that begin with “${begin}”, in this thread`,
  allInThread: (tool: string) => `Not about ${every(tool)}, in this thread`,
  commandsInProject: (begin: string) => `Not about “${begin} …” in this project, from now on`,
  allInProject: (tool: string) => `Not about ${every(tool)} in this project, from now on`,
} as const;
