/** All built-in suites, in the order of reports. */
import type { Suite } from "../format/eval-case.ts";
import { approvals } from "./approvals.ts";
import { budgets } from "./budgets.ts";
import { conversation } from "./conversation.ts";
import { delegation } from "./delegation.ts";
import { durability } from "./durability.ts";
import { fileOperations } from "./file-operations.ts";
import { longContext } from "./long-context.ts";
import { memory } from "./memory.ts";
import { permissions } from "./permissions.ts";
import { retrieval } from "./retrieval.ts";
import { summarization } from "./summarization.ts";
import { toolUse } from "./tool-use.ts";

export const BUILT_IN_SUITES: readonly Suite[] = [
  fileOperations,
  retrieval,
  toolUse,
  memory,
  conversation,
  summarization,
  durability,
  approvals,
  budgets,
  permissions,
  longContext,
  delegation,
];
