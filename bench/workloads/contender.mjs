/** Loads a contender: a module with `create({ model, checkpointer? })` that answers an agent. */
const FILES = {
  deepwright: "deepwright",
  deepagents: "deepagents",
  createAgent: "create-agent",
  hand: "hand",
};

export async function load(name) {
  return import(`../contenders/${FILES[name]}.mjs`);
}

/** No run of the bench may stop at LangGraph's default limit of supersteps. */
export const runConfig = (threadId) => ({
  recursionLimit: 1_000_000,
  ...(threadId === undefined ? {} : { configurable: { thread_id: threadId } }),
});
