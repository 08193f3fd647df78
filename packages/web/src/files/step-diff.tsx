/** Changes of a file between two steps. */
import { useEffect, useState } from "preact/hooks";
import { PatchView } from "../diff/diff-view.tsx";
import { failureWords } from "../state/connection.ts";
import { type Change, readChanges, readSteps, type Step } from "../undo/undo-calls.ts";
import { undoWords } from "../undo/undo-words.ts";
import { words } from "../words.ts";
import { fileWords } from "./file-words.ts";

interface Moment {
  readonly checkpointId: string;
  readonly name: string;
}

interface StepDiffProps {
  readonly path: string;
  readonly threadId: string;
  readonly version: number;
}

export function StepDiff({ path, threadId, version }: StepDiffProps) {
  const [moments, setMoments] = useState<readonly Moment[]>();
  const [failure, setFailure] = useState<string>();
  const [range, setRange] = useState<readonly [number, number]>();
  useEffect(() => {
    readSteps(threadId).then(
      (steps) => {
        const found = momentsOf(steps, path);
        setMoments(found);
        setRange([0, found.length - 1]);
      },
      (error: unknown) => setFailure(failureWords(error)),
    );
  }, [path, threadId, version]);
  if (failure !== undefined) return <p class="failure">{failure}</p>;
  if (!moments || !range) return <p class="muted">{words.loading}</p>;
  if (moments.length < 2) return <p class="notice">{fileWords.notChanged}</p>;
  const [from, to] = [moments[range[0]], moments[range[1]]];
  return (
    <div class="step-diff">
      <div class="buttons">
        <MomentChoice
          label={fileWords.from}
          {...{ moments }}
          at={range[0]}
          onChange={(at) => setRange([at, range[1]])}
        />
        <MomentChoice
          label={fileWords.to}
          {...{ moments }}
          at={range[1]}
          onChange={(at) => setRange([range[0], at])}
        />
      </div>
      {range[0] >= range[1] || !from || !to ? (
        <p class="notice">{fileWords.wrongOrder}</p>
      ) : (
        <Between key={`${from.checkpointId}|${to.checkpointId}`} {...{ path, threadId, from, to }} />
      )}
    </div>
  );
}

/** Before the first change, and after each step that changed the file. */
function momentsOf(steps: readonly Step[], path: string): readonly Moment[] {
  const changing = steps.filter(({ changed_files: files }) => files.includes(path));
  const first = changing[0] && steps[steps.indexOf(changing[0]) - 1];
  if (!first) return [];
  return [
    { checkpointId: first.checkpoint_id, name: fileWords.before },
    ...changing.map(({ checkpoint_id: checkpointId, step, at }) => ({
      checkpointId,
      name: `${undoWords.step(step)}, ${new Date(at).toLocaleTimeString()}`,
    })),
  ];
}

interface ChoiceProps {
  readonly label: string;
  readonly moments: readonly Moment[];
  readonly at: number;
  readonly onChange: (at: number) => void;
}

function MomentChoice({ label, moments, at, onChange }: ChoiceProps) {
  return (
    <label>
      {label}{" "}
      <select
        aria-label={label}
        value={at}
        onChange={({ currentTarget }) => onChange(Number(currentTarget.value))}
      >
        {moments.map(({ checkpointId, name }, index) => (
          <option key={checkpointId} value={index}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface BetweenProps {
  readonly path: string;
  readonly threadId: string;
  readonly from: Moment;
  readonly to: Moment;
}

function Between({ path, threadId, from, to }: BetweenProps) {
  const [change, setChange] = useState<Change | null>();
  const [failure, setFailure] = useState<string>();
  useEffect(() => {
    readChanges(threadId, { from: from.checkpointId, to: to.checkpointId, path }).then(
      ([found]) => setChange(found ?? null),
      (error: unknown) => setFailure(failureWords(error)),
    );
  }, []);
  if (failure !== undefined) return <p class="failure">{failure}</p>;
  if (change === undefined) return <p class="muted">{words.loading}</p>;
  if (change === null) return <p class="muted">{words.noChange}</p>;
  return change.patch ? (
    <PatchView patch={change.patch} label={words.change(path)} />
  ) : (
    <p class="muted">{undoWords.noText}</p>
  );
}
