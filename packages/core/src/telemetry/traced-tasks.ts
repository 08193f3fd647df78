/** Tasks in which the loop itself writes a span, so that listeners do not write another. */
import { ActiveTasks } from "../loop/task/active-tasks.ts";

export const tracedModelTasks = new ActiveTasks();
export const tracedToolTasks = new ActiveTasks();
