/** Files that the thread changed, step by step, each with a way back. */
import type { Screen } from "@deepwright/protocol/live";
import { useEffect, useRef, useState } from "preact/hooks";
import { failureWords } from "../state/connection.ts";
import { current, isRunning, snapshot } from "../state/current.ts";
import { addressOf } from "../state/route.ts";
import { LongText } from "../view/long-text.tsx";
import { words } from "../words.ts";
import { type Change, readChanges, readSteps, restore, type Step } from "./undo-calls.ts";
import { ChangedFile } from "./undo-report.tsx";
import { askUndo, restores } from "./undo-request.ts";
import { undoWords } from "./undo-words.ts";
import "./undo.css";

interface Found {
  readonly changes: readonly Change[];
  readonly steps: readonly Step[];
  /** Paths whose changes are still on disk. */
  readonly standing: ReadonlySet<string>;
}

export function ChangesView() {
  const { screen } = snapshot.value;
  const { found, failure } = useChanges();
  const opened = useRef(new Set<string>()).current;
  const live = liveFiles(screen).filter(({ path }) => !found?.changes.some((change) => change.path === path));
  if (failure !== undefined) return <p class="failure">{failure}</p>;
  if (live.length === 0 && !found) return <p class="muted">{words.loading}</p>;
  if (live.length === 0 && found?.changes.length === 0) return <p class="muted">{words.noChanges}</p>;
  const changing = (found?.steps ?? []).filter((step) => step.changed_files.length > 0).toReversed();
  return (
    <div class="changes">
      {(found?.standing.size ?? 0) > 0 && (
        <button type="button" onClick={() => askUndo({ kind: "all" })}>
          {undoWords.undoAll}
        </button>
      )}
      <section>
        <h3>{undoWords.allFiles}</h3>
        <ul class="files">
          {found?.changes.map((change) => (
            <ChangeRow
              key={`${change.place}|${change.path}`}
              change={change}
              isStanding={found.standing.has(change.path)}
              opened={opened}
            />
          ))}
          {live.map(({ path, change, content }) => (
            <li key={path}>
              <details open={opened.has(path)} onToggle={remember(opened, path)}>
                <summary>
                  <span class="path">{path}</span> <span class={`badge ${change}`}>{words[change]}</span>
                </summary>
                {content !== undefined && <LongText text={content} />}
              </details>
            </li>
          ))}
        </ul>
      </section>
      {changing.length > 0 && <Steps steps={changing} all={found?.steps ?? []} />}
    </div>
  );
}

interface ChangeRowProps {
  readonly change: Change;
  readonly isStanding: boolean;
  readonly opened: Set<string>;
}

function ChangeRow({ change, isStanding, opened }: ChangeRowProps) {
  const { place, path, kind } = change;
  const isUndone = place !== undefined && !isStanding;
  return (
    <li class="change-row">
      <ChangedFile
        change={change}
        isOpen={opened.has(path)}
        onToggle={remember(opened, path)}
        badge={isUndone ? undoWords.isUndone : (undoWords.written[kind] ?? kind)}
      />
      {place === undefined ? (
        <span class="muted">{undoWords.inThread}</span>
      ) : (
        !isUndone && <UndoFile path={path} />
      )}
    </li>
  );
}

/** A file that the reader opened stays open when the run ends and its row is replaced. */
function remember(opened: Set<string>, path: string) {
  return ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }) => {
    if (currentTarget.open) opened.add(path);
    else opened.delete(path);
  };
}

function liveFiles({ main, subagents }: Screen) {
  return [main, ...Object.values(subagents)].flatMap((agent) => Object.values(agent.files));
}

/** Looked at again when a run ends and when files were put back. */
function useChanges(): { readonly found: Found | undefined; readonly failure: string | undefined } {
  const [found, setFound] = useState<Found>();
  const [failure, setFailure] = useState<string>();
  const threadId = current.value?.threadId;
  const running = isRunning(snapshot.value);
  const version = restores.value;
  useEffect(() => {
    if (threadId === undefined || running) return;
    let isCurrent = true;
    readAll(threadId).then(
      (all) => {
        if (!isCurrent) return;
        setFound(all);
        setFailure(undefined);
      },
      (error: unknown) => isCurrent && setFailure(failureWords(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [threadId, running, version]);
  return { found, failure };
}

async function readAll(threadId: string): Promise<Found> {
  const steps = await readSteps(threadId);
  const first = steps[0]?.checkpoint_id;
  if (first === undefined || !steps.some((step) => step.changed_files.length > 0))
    return { steps, changes: [], standing: new Set() };
  const changes = await readChanges(threadId, { from: first });
  const { restored, conflicts, not_covered: notCovered } = await restore(threadId, { since: first }, true);
  const standing = [...restored, ...conflicts, ...notCovered].flatMap(({ path }) => path ?? []);
  return { steps, changes, standing: new Set(standing) };
}

function UndoFile({ path }: { readonly path: string }) {
  return (
    <button
      type="button"
      class="quiet"
      aria-label={undoWords.undoFile(path)}
      onClick={() => askUndo({ kind: "file", path })}
    >
      {undoWords.undoShort}
    </button>
  );
}

const FEW_FILES = 5;

function Steps({ steps, all }: { readonly steps: readonly Step[]; readonly all: readonly Step[] }) {
  return (
    <section>
      <h3>{undoWords.steps}</h3>
      <ol class="undo-steps">
        {steps.map((step) => {
          const threadId = current.value?.threadId ?? "";
          const { checkpoint_id: checkpointId, changed_files: files, calls } = step;
          const before = all[all.indexOf(step) - 1];
          return (
            <li key={checkpointId}>
              <header>
                <strong>{undoWords.step(step.step)}</strong>{" "}
                <time class="muted" dateTime={step.at}>
                  {new Date(step.at).toLocaleTimeString()}
                </time>
              </header>
              <p class="path">{files.slice(0, FEW_FILES).join("  ")}</p>
              <a href={addressOf({ view: "steps", threadId, checkpointId })}>{undoWords.lookAt}</a>
              {files.length > FEW_FILES && (
                <p class="muted">{undoWords.moreFiles(files.length - FEW_FILES)}</p>
              )}
              {calls.length > 0 && (
                <div class="buttons">
                  <button type="button" class="quiet" onClick={() => askUndo({ kind: "step", checkpointId })}>
                    {undoWords.undoStep}
                  </button>
                  {before && (
                    <button
                      type="button"
                      class="quiet"
                      onClick={() => askUndo({ kind: "since", checkpointId: before.checkpoint_id })}
                    >
                      {undoWords.undoSince}
                    </button>
                  )}
                </div>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
