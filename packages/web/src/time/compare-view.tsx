/** Two threads side by side: facts, answers, commands, files. */
import { useEffect, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { go } from "../state/route.ts";
import { threads, titleOf } from "../state/threads.ts";
import { words } from "../words.ts";
import { CompareFacts } from "./compare-facts.tsx";
import { CompareFiles } from "./compare-files.tsx";
import { Answer, Commands } from "./compare-side.tsx";
import { type ComparedThread, type PutKind, readComparison } from "./comparison.ts";
import { PutDialog } from "./put-dialog.tsx";
import "./time.css";
import { timeWords } from "./words.ts";

interface CompareProps {
  readonly threadIds: readonly [string, string];
}

export const SIDES = ["A", "B"] as const;

interface Put {
  readonly kind: PutKind;
  readonly threadId: string;
}

export function CompareView({ threadIds }: CompareProps) {
  const [one, other] = threadIds;
  const [put, setPut] = useState<Put>();
  const [version, setVersion] = useState(0);
  const { compared, failure } = useComparison(one, other, version);
  return (
    <section class="compare-view" aria-labelledby="compare-title">
      <h1 id="compare-title">{timeWords.compareTitle}</h1>
      <div class="compare-columns">
        {SIDES.map((name, index) => (
          <SideChoice key={name} {...{ name, threadIds, index }} onPut={setPut} />
        ))}
      </div>
      {one === other && <p class="notice">{timeWords.sameThread}</p>}
      {failure !== undefined && (
        <p class="failure" role="alert">
          {failure}
        </p>
      )}
      {!compared && failure === undefined && <p class="muted">{words.loading}</p>}
      {compared && <Compared threads={compared} />}
      {put && (
        <PutDialog
          {...put}
          title={nameOf(put.threadId)}
          onClose={() => {
            setPut(undefined);
            setVersion(version + 1);
          }}
        />
      )}
    </section>
  );
}

/** Looked at again when a thread of the two goes on or comes to rest. */
function useComparison(one: string, other: string, version: number) {
  const [compared, setCompared] = useState<readonly ComparedThread[]>();
  const [failure, setFailure] = useState<string>();
  const mark = threads.value
    .filter(({ thread_id: id }) => id === one || id === other)
    .map(({ status, updated_at: moment }) => `${status} ${moment}`)
    .join();
  useEffect(() => {
    let isCurrent = true;
    readComparison(one, other).then(
      (read) => {
        if (!isCurrent) return;
        setCompared(read);
        setFailure(undefined);
      },
      (error: unknown) => isCurrent && setFailure(failureWords(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [one, other, version, mark]);
  return { compared, failure };
}

function nameOf(threadId: string): string {
  const thread = threads.value.find(({ thread_id: id }) => id === threadId);
  return (thread && titleOf(thread)) ?? words.untitled;
}

interface SideProps {
  readonly name: (typeof SIDES)[number];
  readonly index: number;
  readonly threadIds: readonly [string, string];
  readonly onPut: (put: Put) => void;
}

function SideChoice({ name, index, threadIds, onPut }: SideProps) {
  const threadId = threadIds[index] as string;
  const choose = (next: string): void =>
    go({ view: "compare", threads: index === 0 ? [next, threadIds[1]] : [threadIds[0], next] });
  const isListed = threads.value.some(({ thread_id: id }) => id === threadId);
  return (
    <div class="compare-side">
      <label>
        {timeWords.side(name)}
        <select value={threadId} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {!isListed && <option value={threadId}>{words.untitled}</option>}
          {threads.value.map((thread) => (
            <option key={thread.thread_id} value={thread.thread_id}>
              {titleOf(thread) ?? words.untitled}
            </option>
          ))}
        </select>
      </label>
      <div class="buttons">
        <button type="button" class="quiet" onClick={() => go({ view: "thread", threadId })}>
          {words.openThread}
        </button>
        <button type="button" class="quiet" onClick={() => onPut({ kind: "takeBack", threadId })}>
          {timeWords.takeBack}
        </button>
        <button type="button" class="quiet" onClick={() => onPut({ kind: "adopt", threadId })}>
          {timeWords.adopt}
        </button>
      </div>
    </div>
  );
}

function Compared({ threads: compared }: { readonly threads: readonly ComparedThread[] }) {
  const isOnDisk = compared.every(({ changes }) => changes.some(({ place }) => place !== undefined));
  return (
    <>
      <CompareFacts threads={compared} />
      {isOnDisk && <p class="muted">{timeWords.sameDirectory}</p>}
      <h2>{timeWords.answers}</h2>
      <div class="compare-columns">
        {compared.map((thread, index) => (
          <Answer key={index} side={SIDES[index] ?? ""} answer={thread.answer} />
        ))}
      </div>
      <h2>{timeWords.commands}</h2>
      <div class="compare-columns">
        {compared.map((thread, index) => (
          <Commands key={index} side={SIDES[index] ?? ""} commands={thread.commands} />
        ))}
      </div>
      <h2>{timeWords.changes}</h2>
      <CompareFiles threads={compared} />
    </>
  );
}
