/** Where LangGraph's servers answer the script otherwise than ours, and why. Kept in step by the test, as is docs/serve.md. */

export type PeerName = "development" | "embedded";

export interface Difference {
  /** The first cell of its row under "Differences to LangGraph's server" in docs/serve.md. */
  readonly row: string;
  readonly why: string;
  /** Lines of the comparison; `*` is anything. Each must be found at each of the peers it is said of. */
  readonly both?: readonly string[];
  readonly development?: readonly string[];
  readonly embedded?: readonly string[];
}

export const DIFFERENCES: readonly Difference[] = [
  {
    row: "`end`",
    why: "a stream that was cut can be told from one that is over",
    both: ["runs.stream end: only here", "runs.joinStream end: only here"],
  },
  {
    row: "`multitask_strategy` without one",
    why: "LangGraph's platform documents `enqueue`; its JavaScript server refuses",
    both: ['runs.create multitask_strategy: "enqueue", there "reject"'],
    development: [
      'runs.* multitask_strategy: "enqueue", there "reject"',
      'runs.* answer[].multitask_strategy: "enqueue", there "reject"',
      "runs.create (no strategy): answered, there 422",
    ],
  },
  {
    row: "a second run on a busy thread, or on none",
    why: "409 and 404 say what is the matter; 422 is said of requests that cannot be read",
    development: [
      "runs.create (reject): 409, there 422",
      "runs.* (unknown thread): 404, there 422",
      "threads.copy (unknown): 404, there 409",
    ],
  },
  {
    row: "two answers to one interrupt",
    why: "an approval has one effect",
    both: ["runs.stream (answers again): 409, there a stream"],
  },
  {
    row: "the server's own assistants",
    why: "they are the server's, and every caller has them",
    development: ["assistants.update (the server's own): *, there answered"],
  },
  {
    row: "an assistant of a graph that is not there",
    why: "its first run would fail",
    development: ["assistants.create (unknown graph): 404, there answered"],
  },
  {
    row: "a thread, a version of an assistant",
    why: "one shape whatever the request; `config` there is the engine's",
    both: [
      "threads.* title: only here",
      "threads.search answer[].title: only here",
      "threads.* state_updated_at: only here",
      "threads.* values: only here",
      "threads.* interrupts: only here",
      "threads.get error: only here",
      "threads.search answer[].state_updated_at: only here",
      "threads.search answer[].values: only here",
      "threads.search answer[].interrupts: only here",
    ],
    development: [
      "threads.* config: only there",
      "threads.search answer[].config: only there",
      "threads.get interrupts.<id>: only there",
      "threads.copy metadata.thread_id: only there",
      "threads.search answer[].extracted: only here",
      "assistants.getVersions answer[].updated_at: only here",
    ],
    embedded: [
      "threads.* status: only here",
      "threads.search answer[].status: only here",
      'threads.get metadata.assistant_id: "<id>", there "echo"',
    ],
  },
  {
    row: "a run",
    why: "what a run was asked for is not shown with it, and its metadata are those of the request",
    both: ["runs.create kwargs: only there"],
    development: [
      "runs.get kwargs: only there",
      "runs.* answer[].kwargs: only there",
      "runs.* metadata.assistant_id: only there",
      "runs.* metadata.created_by: only there",
      "runs.* metadata.graph_id: only there",
      "runs.* answer[].metadata.assistant_id: only there",
      "runs.* answer[].metadata.created_by: only there",
      "runs.* answer[].metadata.graph_id: only there",
    ],
    embedded: [
      'runs.create assistant_id: "<id>", there "echo"',
      'runs.create status: "pending", there "running"',
    ],
  },
  {
    row: "`select`, `return_minimal`, pages, scores",
    why: "the SDK sends them",
    both: ["threads.update answer: nothing, there {*"],
    development: [
      "assistants.delete answer: nothing, there 1 entries",
      "runs.list answer[].assistant_id: only there",
      "runs.list answer[].created_at: only there",
      "runs.list answer[].metadata: only there",
      "runs.list answer[].multitask_strategy: only there",
      "runs.list answer[].status: only there",
      "runs.list answer[].thread_id: only there",
      "runs.list answer[].updated_at: only there",
      'assistants.search next: "1", there null',
      "store.searchItems items[].score: only here",
    ],
    embedded: [
      "threads.search answer[].created_at: only there",
      "threads.search answer[].updated_at: only there",
      "threads.search answer[].metadata: only there",
    ],
  },
  {
    row: "a state",
    why: "a checkpoint that came from an answer can be sent back; metadata are those of the checkpoint alone",
    both: [
      "threads.getState (by checkpoint): answered, there 400",
      "threads.getHistory (before): answered, there 400",
      "threads.getState metadata: only here",
      "threads.updateState checkpoint.checkpoint_map: only here",
      "threads.updateState configurable: only here",
    ],
    development: [
      "threads.getState metadata.*: only there",
      "threads.getHistory answer[].metadata.*: only there",
    ],
  },
  {
    row: "whether a model streams",
    why: "they trace every run, which makes every model stream; here one streams when its messages are wanted",
    both: ["* *messages[].tool_call_chunks: only there"],
  },
  {
    row: "pieces of messages",
    why: "they say that they are pieces, as LangGraph's Python server has it; the run's own input is not repeated",
    both: [
      'runs.* events[].data[].type: "AIMessageChunk", there "ai"',
      "runs.stream events: metadata messages/metadata *, there metadata messages/complete messages/metadata *",
    ],
  },
  {
    row: "metadata in streams",
    why: "where a checkpoint is and what the run is, but nothing of the server it runs on",
    both: [
      "runs.* events[].data.thread_id: only here",
      "runs.stream events[].data.checkpoint_id: only here",
      "runs.stream events[].data.checkpoint: only here",
      "runs.stream events[].data.parent_checkpoint: only here",
      "runs.stream events[].data.tasks: only here",
      "runs.stream events[].data.timestamp: only here",
      "runs.stream events[].data.payload.config: only there",
      "runs.stream events[].data.payload.parent_config: only there",
      "runs.* events[].*langgraph_host: only there",
      "runs.* events[].*langgraph_plan: only there",
      "runs.* events[].*langgraph_version: only there",
    ],
    embedded: ["runs.* events[].*assistant_id: only here", "runs.* events[].*created_by: only here"],
  },
  {
    row: "a stream that is joined",
    why: "events are kept for a day, and `stream_mode` is honoured",
    both: ["runs.joinStream events: metadata values values, there *"],
    embedded: ["runs.joinStream events: messages *, there error"],
  },
  {
    row: "the end of a failed run",
    why: "`wait` has the values the run left, and the error in words",
    development: ["runs.wait messages: only here", "runs.wait __error__.message: *"],
  },
  {
    row: "crons, `prune`, `patchState`, `cancelMany`, the stream of a thread",
    why: "the SDK has them",
    both: [
      "crons.*: answered, there *",
      "threads.patchState: answered, there 404",
      "threads.*metadata.seen: only here",
      "threads.joinStream: a stream, there 404",
    ],
    development: [
      "runs.cancelMany: answered, there 404",
      "threads.prune*: answered, there 404",
      "threads.getHistory answer: 1 entries, there 3 entries",
      "threads.get (pruned): 404, there answered",
    ],
  },
  {
    row: "schemas of a graph",
    why: "they are read from TypeScript sources there, and from the compiled graph here",
    development: [
      "assistants.getSchemas: answered, there 500",
      "assistants.getSubgraphs: answered, there 500",
    ],
  },
  {
    row: "the embedded server",
    why: "it is a part of the protocol: no assistants, store or crons, and runs only as streams",
    embedded: [
      "assistants.*: *, there 404",
      "store.*: answered, there 404",
      "runs.wait (*): answered, there 404",
      "runs.get: answered, there 404",
      "runs.list*: answered, there 404",
      "runs.join: answered, there 404",
      "runs.delete: answered, there 404",
      "runs.create (no thread): answered, there 404",
      "runs.createBatch: answered, there 404",
      "runs.cancel (unknown): 404, there answered",
      "threads.copy: answered, there 404",
      "threads.count: answered, there 404",
      "threads.create (there already): 409, there answered",
      "threads.* (deleted): 404, there answered",
      "threads.* (unknown): 404, there answered",
    ],
  },
];

/** Rows of the document that the script does not show, and what does. */
export const OTHER_ROWS: Readonly<Record<string, string>> = {
  token: "SV-01, http/security-access.test.ts",
  "`command.update`, `command.goto`, `as_node`, `supersteps`": "SV-10, http/security-requests.test.ts",
  "messages of clients": "SV-10, http/security-requests.test.ts",
  "`updateState`": "SV-10, http/security-requests.test.ts",
  "private keys of the state": "runs/stream-modes.test.ts",
  "`checkpoint_ns` in a request that runs or writes": "SV-10, http/security-requests.test.ts",
  ids: "SV-05, http/security-access.test.ts",
  "the newer stream protocol: `run.start` on a thread that waits for an answer":
    "conformance/thread-protocol.test.ts",
  "the newer stream protocol: `agent.getTree`, WebSocket": "conformance/thread-protocol.test.ts",
  "custom routes in `langgraph.json`": "no route has them",
  A2A: "conformance/a2a.test.ts",
};
