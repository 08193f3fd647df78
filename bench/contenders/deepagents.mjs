/** deepagents, as it comes. */
import { createDeepAgent } from "deepagents";

export const create = (options) => createDeepAgent(options);
