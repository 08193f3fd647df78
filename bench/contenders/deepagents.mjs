/** deepagents, as it comes. */
import { createDeepAgent } from "deepagents";

export const create = ({ model, checkpointer }) => createDeepAgent({ model, checkpointer });
