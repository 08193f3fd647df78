/** Ours, as it comes. */
import { createDeepAgent } from "deepwright";

export const create = ({ model, checkpointer }) => createDeepAgent({ model, checkpointer });
