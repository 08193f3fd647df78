/** Ours, as it comes. */
import { createDeepAgent } from "deepwright";

export const create = (options) => createDeepAgent(options);
