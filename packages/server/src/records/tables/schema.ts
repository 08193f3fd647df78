/** Tables of the server, in the database of the threads. */
import type { ColumnTypes, Migration } from "@deepwright/checkpoint/sql";
import { createCompletionTables } from "./completions.ts";
import { createRemoteTaskTables } from "./remote-tasks.ts";
import { createTicketTable } from "./tickets.ts";

/** A published step never changes. */
export const SERVER_MIGRATIONS: readonly Migration[] = [
  createServerTables,
  createTaskTables,
  createHookTables,
  addStalls,
  createRemoteTaskTables,
  addCallers,
  createCompletionTables,
  addFormerOwners,
  addOutcomes,
  addClaimTtl,
  createTicketTable,
  addLabels,
  addEndedIndex,
  addHookHeaders,
];

/**
 * `position` is the order of insertion. `open` is 1 until a run ended. `batch`, `token` and `taken` identify the last
 * writer, so that work repeated after a lost answer finds that it was done.
 */
function createServerTables({ id, integer, text, keyed }: ColumnTypes): string[] {
  return [
    `CREATE TABLE dw_srv_assistants (position ${id}, owner ${text} NOT NULL, assistant_id ${text} NOT NULL,
      graph_id ${text} NOT NULL, name ${text} NOT NULL, version ${integer} NOT NULL, created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL, body ${text} NOT NULL, UNIQUE (owner, assistant_id))`,
    `CREATE TABLE dw_srv_assistant_versions (owner ${text} NOT NULL, assistant_id ${text} NOT NULL,
      version ${integer} NOT NULL, updated_at ${integer} NOT NULL, body ${text} NOT NULL,
      PRIMARY KEY (owner, assistant_id, version))`,
    `CREATE TABLE dw_srv_threads (position ${id}, thread_id ${text} NOT NULL UNIQUE, owner ${text} NOT NULL,
      status ${text} NOT NULL, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
      state_updated_at ${integer} NOT NULL, expires_at ${integer}, metadata ${text} NOT NULL, config ${text},
      state_values ${text}, interrupts ${text} NOT NULL, error ${text},
      last_run ${integer} NOT NULL, last_fence ${integer} NOT NULL)`,
    "CREATE INDEX dw_srv_threads_of_owner ON dw_srv_threads (owner, position)",
    "CREATE INDEX dw_srv_threads_changed ON dw_srv_threads (owner, updated_at)",
    "CREATE INDEX dw_srv_threads_expiring ON dw_srv_threads (expires_at) WHERE expires_at IS NOT NULL",
    `CREATE TABLE dw_srv_marks (owner ${text} NOT NULL, mark ${text} NOT NULL, subject ${text} NOT NULL,
      kind ${text} NOT NULL, PRIMARY KEY (owner, mark, subject))${keyed}`,
    "CREATE INDEX dw_srv_marks_of_subject ON dw_srv_marks (owner, subject)",
    `CREATE TABLE dw_srv_runs (position ${id}, run_id ${text} NOT NULL UNIQUE, owner ${text} NOT NULL,
      thread_id ${text} NOT NULL, assistant_id ${text} NOT NULL, sequence ${integer} NOT NULL,
      status ${text} NOT NULL, open ${integer} NOT NULL, strategy ${text} NOT NULL, metadata ${text} NOT NULL,
      request ${text} NOT NULL, created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL,
      ended_at ${integer}, not_before ${integer} NOT NULL, attempts ${integer} NOT NULL, error ${text},
      cancel ${text}, worker ${text}, fence ${integer} NOT NULL, claim_expires ${integer} NOT NULL,
      token ${text}, batch ${text}, last_event ${integer} NOT NULL, has_log ${integer} NOT NULL,
      UNIQUE (thread_id, sequence))`,
    "CREATE INDEX dw_srv_runs_open ON dw_srv_runs (thread_id, sequence) WHERE open = 1",
    "CREATE INDEX dw_srv_runs_oldest ON dw_srv_runs (position) WHERE open = 1",
    "CREATE INDEX dw_srv_runs_ended ON dw_srv_runs (ended_at) WHERE has_log = 1 AND open = 0",
    `CREATE TABLE dw_srv_keys (owner ${text} NOT NULL, name ${text} NOT NULL, request_hash ${text} NOT NULL,
      run_id ${text} NOT NULL, run ${text}, created_at ${integer} NOT NULL, PRIMARY KEY (owner, name))`,
    "CREATE INDEX dw_srv_keys_of_run ON dw_srv_keys (run_id)",
    "CREATE INDEX dw_srv_keys_age ON dw_srv_keys (created_at)",
    `CREATE TABLE dw_srv_events (run ${integer} NOT NULL, sequence ${integer} NOT NULL, event ${text} NOT NULL,
      data ${text} NOT NULL, PRIMARY KEY (run, sequence))`,
    `CREATE TABLE dw_srv_crons (position ${id}, owner ${text} NOT NULL, cron_id ${text} NOT NULL,
      assistant_id ${text} NOT NULL, thread_id ${text}, enabled ${integer} NOT NULL, next_run ${integer},
      created_at ${integer} NOT NULL, updated_at ${integer} NOT NULL, body ${text} NOT NULL, taken ${text},
      UNIQUE (owner, cron_id))`,
    "CREATE INDEX dw_srv_crons_due ON dw_srv_crons (next_run) WHERE enabled = 1 AND next_run IS NOT NULL",
    "CREATE INDEX dw_srv_crons_of_thread ON dw_srv_crons (thread_id) WHERE thread_id IS NOT NULL",
    `CREATE TABLE dw_srv_mail (position ${id}, thread_id ${text} NOT NULL, mail_id ${text} NOT NULL,
      kind ${text} NOT NULL, message ${text}, token ${text} NOT NULL, UNIQUE (thread_id, mail_id))`,
    "CREATE INDEX dw_srv_mail_waiting ON dw_srv_mail (thread_id, position) WHERE message IS NOT NULL",
  ];
}

/**
 * A row of `dw_srv_tasks` marks a thread that does a task for its parent; `ends` counts the reports to the parent.
 * `after_run` of mail is the last run of its thread at the time the mail came.
 */
function createTaskTables({ integer, text }: ColumnTypes): string[] {
  return [
    `CREATE TABLE dw_srv_tasks (thread_id ${text} PRIMARY KEY, owner ${text} NOT NULL, parent ${text} NOT NULL,
      agent ${text} NOT NULL, run_id ${text} NOT NULL, state ${text} NOT NULL, status ${text},
      ends ${integer} NOT NULL)`,
    "CREATE INDEX dw_srv_tasks_of_parent ON dw_srv_tasks (parent)",
    `ALTER TABLE dw_srv_mail ADD COLUMN after_run ${integer} NOT NULL DEFAULT 0`,
  ];
}

/** `stalled_at` is where the thread of a run stood when it was last begun again, `stalled_from` the first attempt that began there. */
function addStalls({ integer, text }: ColumnTypes): string[] {
  return [
    `ALTER TABLE dw_srv_runs ADD COLUMN stalled_from ${integer} NOT NULL DEFAULT 1`,
    `ALTER TABLE dw_srv_runs ADD COLUMN stalled_at ${text}`,
  ];
}

/** Webhooks. `due` is null when nothing more is tried. */
function createHookTables({ id, integer, text }: ColumnTypes): string[] {
  return [
    `CREATE TABLE dw_srv_hooks (position ${id}, hook_id ${text} NOT NULL UNIQUE, owner ${text} NOT NULL,
      run_id ${text} NOT NULL, url ${text} NOT NULL, body ${text}, attempts ${integer} NOT NULL, due ${integer},
      status ${text} NOT NULL, answer ${integer}, created_at ${integer} NOT NULL)`,
    "CREATE INDEX dw_srv_hooks_due ON dw_srv_hooks (due) WHERE due IS NOT NULL",
    "CREATE INDEX dw_srv_hooks_of_run ON dw_srv_hooks (run_id)",
    "CREATE INDEX dw_srv_hooks_age ON dw_srv_hooks (created_at)",
  ];
}

/** Facts about the caller that began a run, beside the identity: JSON. */
function addCallers({ text }: ColumnTypes): string[] {
  return [`ALTER TABLE dw_srv_runs ADD COLUMN caller ${text}`];
}

/**
 * A thread whose state is being removed has the owner `EVERYONE`: it cannot be seen or used, and its id stays taken
 * until the state is gone. `former_owner` may ask for its removal again.
 */
function addFormerOwners({ text }: ColumnTypes): string[] {
  return [`ALTER TABLE dw_srv_threads ADD COLUMN former_owner ${text}`];
}

/** How the agent ended a run: JSON. */
function addOutcomes({ text }: ColumnTypes): string[] {
  return [`ALTER TABLE dw_srv_runs ADD COLUMN outcome ${text}`];
}

/** How long a claim was to live: an end further ahead than that comes from another clock. */
function addClaimTtl({ integer }: ColumnTypes): string[] {
  return [`ALTER TABLE dw_srv_runs ADD COLUMN claim_ttl ${integer} NOT NULL DEFAULT 86400000`];
}

/**
 * `title` is of the first message, `name` was given by a client, `name_words` and `words` are lower case for searches.
 * `kept_expiry` is the expiry that a thread in the trash had before.
 */
function addLabels({ integer, text }: ColumnTypes): string[] {
  const columns = [
    ...["title", "name", "name_words", "words"].map((name) => `${name} ${text}`),
    `archived ${integer} NOT NULL DEFAULT 0`,
    ...["trashed_at", "kept_expiry"].map((name) => `${name} ${integer}`),
  ];
  return columns.map((column) => `ALTER TABLE dw_srv_threads ADD COLUMN ${column}`);
}

/** For sums of the usage of runs. */
function addEndedIndex(): string[] {
  return ["CREATE INDEX dw_srv_runs_counted ON dw_srv_runs (owner, ended_at) WHERE open = 0"];
}

/** Headers of a webhook: JSON. */
function addHookHeaders({ text }: ColumnTypes): string[] {
  return [`ALTER TABLE dw_srv_hooks ADD COLUMN headers ${text}`];
}
