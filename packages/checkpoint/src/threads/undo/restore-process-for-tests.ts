/** A process that rewinds a thread, to be killed. Arguments: database, thread, directory, step. */
import { SqliteSaver } from "../../sqlite/index.ts";
import { openThreads } from "../open-threads.ts";

const [path = "", thread = "", root = "", step = ""] = process.argv.slice(2);
const saver = await SqliteSaver.open(path);
await openThreads(saver).rewind(thread, /^-?\d+$/.test(step) ? Number(step) : step, { roots: [root] });
await saver.close();
