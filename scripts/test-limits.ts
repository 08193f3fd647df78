/**
 * Every limit on time that a test checks, in milliseconds on an idle machine. A limit stands here only when it is itself
 * the promise: a time-out ends in time, a hostile input costs linear time. Tests check it with `withinLimit` or
 * `withinCpuLimit` of `test-time.ts`. A new limit is a sentence about what takes that long at most.
 */
export const LIMITS = {
  // every package
  "one turn of the event loop": 250,

  // core: backends and text
  "a command whose time-out is 1 s": 3_000,
  "two edits of 1 MB of text made to be slow": 1_500,
  "finding nothing three times in 2 MB of bytes made to be slow": 2_000,
  "finding nothing in 1 MB of text made to be slow": 1_000,
  "five searches for text that looks hostile": 5_000,
  "decoding and encoding a line of 6 MB": 2_000,
  "replacing 200,000 matches in a text": 2_000,
  "numbering 200,000 lines": 2_000,
  "a hostile glob over 1,000 hostile paths": 500,
  "a hostile glob over 200 files": 2_000,
  "hostile rules of ignore files": 2_000,
  "a hostile path": 50,
  "the head of a text of 100 MB": 20,
  "the first lines of a file of 2 GiB": 300,
  "the beginning of a line of 2 GiB": 1_000,
  "ten searches of 5,000 files in a map": 2_000,
  "fifty changes of one file among 5,000": 750,
  "searching and listing 5,000 files of the state": 300,

  // core: the loop, subagents, middleware, context, memory, skills
  "a run with a command and a model three levels down is aborted": 2_000,
  "a call whose arguments come in 25,000 pieces": 5_000,
  "media are looked for again in a thread of 7,500 messages": 50,
  "comments are found in a million hostile characters": 500,
  "hostile front matter is refused": 1_000,
  "a folder of hostile skills is loaded": 2_000,

  // checkpoint
  "the event loop turns while another process holds the SQLite file": 250,
  "a Postgres that stays away is an error after 0.5 s of retries": 2_000,

  // sandboxes
  "a command beside a hostile `.git` file": 1_000,
  "commands in a sandbox of this machine end after their process was killed": 2_000,

  // server, protocol, cli
  "an MCP call with a hostile pattern in its schemas": 2_000,
  "a search for 64 values in a list of 90,000": 2_000,
  "a body that is too deep or has too many values is refused": 5_000,
  "a request that is too large, too deep or too wide is refused": 5_000,
  "a hostile message of 50,000 characters is read as Markdown": 1_000,
  "the page shows five hostile messages": 1_000,
  "/ok beside 200 runs at work": 1_000,
  "/ok while Postgres takes 2 s for every answer": 200,
  "a server closes whose clients keep their connections": 5_000,
} as const satisfies Readonly<Record<string, number>>;
