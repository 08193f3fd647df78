/** A copy leads to the comparison with the thread that it was made of. */
import { addressOf } from "../state/route.ts";
import { threads } from "../state/threads.ts";
import { timeWords } from "./words.ts";
import "./time.css";

export function BranchNote({ threadId }: { readonly threadId: string }) {
  const original = threads.value.find(({ thread_id: id }) => id === threadId)?.metadata.branched_from;
  if (typeof original !== "string") return null;
  return (
    <p class="branch-note">
      {timeWords.branchOf}{" "}
      <a href={addressOf({ view: "compare", threads: [original, threadId] })}>{timeWords.compareOriginal}</a>
    </p>
  );
}
