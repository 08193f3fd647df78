/** What the model says in the workloads, and the proof that every contender did the work. */
import { HumanMessage } from "@langchain/core/messages";
import { callTool, say, scriptedModel } from "deepwright/testing";

/** A model without latency that does no work for the messages before. Its window never fills up. */
export function benchModel(script) {
  return scriptedModel(script, { check: false, record: false, profile: { maxInputTokens: 1e9 } });
}

const MODEL_MS = 3;

/** The same script from a model that, as every real one does, takes a while: the event loop turns meanwhile. */
export function yielding(script) {
  return async (call) => {
    await new Promise((resolve) => setTimeout(resolve, MODEL_MS));
    return script(call);
  };
}

export const ask = (text) => ({ messages: [new HumanMessage(text)] });

/** Turn by turn: writes one small file, then edits it, reads it and lists the files, over and over. */
export function smallTurns(turns, onModelCall = () => {}) {
  return ({ turn }) => {
    onModelCall(turn);
    if (turn >= turns) return say("Done.");
    if (turn === 0) return callTool("write_file", { file_path: "/notes.txt", content: "count: 0;" });
    if (turn % 3 === 2) return callTool("read_file", { file_path: "/notes.txt" });
    if (turn % 3 === 0) return callTool("ls", { path: "/" });
    const count = (turn - 1) / 3;
    return callTool("edit_file", {
      file_path: "/notes.txt",
      old_string: `count: ${count};`,
      new_string: `count: ${count + 1};`,
    });
  };
}

/** Reads one of `files` files a turn. */
export function readTurns(turns, files, onModelCall = () => {}) {
  return ({ turn }) => {
    onModelCall(turn);
    if (turn >= turns) return say("Done.");
    return callTool("read_file", { file_path: filePath((turn * 37) % files) });
  };
}

/** Edits the files in turn, each time a few words in the middle. */
export function editTurns(turns, files) {
  return ({ turn }) => {
    if (turn >= turns) return say("Done.");
    const pass = Math.floor(turn / files);
    return callTool("edit_file", {
      file_path: filePath(turn % files),
      old_string: `revision ${pass} of the page`,
      new_string: `revision ${pass + 1} of the page`,
    });
  };
}

export const filePath = (i) => `/docs/part-${i % 20}/page-${i}.md`;

/** `count` files of about `bytes` bytes in the state's own form, all different. */
export function makeFiles(count, bytes) {
  const now = new Date(0).toISOString();
  const entries = Array.from({ length: count }, (_, i) => {
    const line = `This is line {} of page ${i}; it is as long as lines of prose are.\n`;
    const lines = Math.max(0, Math.floor(bytes / line.length) - 1);
    const body = Array.from({ length: lines }, (_, n) => line.replace("{}", String(n)));
    body.splice(lines >> 1, 0, "revision 0 of the page\n");
    const data = { content: body.join(""), mimeType: "text/markdown", created_at: now, modified_at: now };
    return [filePath(i), data];
  });
  return Object.fromEntries(entries);
}

/** Throws unless the run has one sound result for each of its turns. */
export function checkRun(result, turns) {
  const results = result.messages.filter((message) => message.type === "tool");
  const failed = results.find((m) => m.status === "error" || /^error|not found/i.test(String(m.content)));
  if (failed) throw new Error(`A tool failed: ${String(failed.content).slice(0, 200)}`);
  if (results.length !== turns) throw new Error(`Expected ${turns} tool results, got ${results.length}.`);
  if (result.messages.at(-1).text !== "Done.") throw new Error("The run did not end with the last turn.");
}

export function textOf(file) {
  return Array.isArray(file.content) ? file.content.join("\n") : file.content;
}

/** Throws unless the edits of `smallTurns(turns)` are in the file. */
export function checkSmallTurns(result, turns) {
  checkRun(result, turns);
  const expected = `count: ${Math.floor((turns + 1) / 3)};`;
  const found = textOf(result.files["/notes.txt"]);
  if (found.trim() !== expected) throw new Error(`Expected '${expected}' in the file, found '${found}'.`);
}
