/** Approval mode, kind of agent, model and budget of the next run. Only what the agent keeps to is offered. */
import { useState } from "preact/hooks";
import type { Rule } from "../approvals/rules.ts";
import { type Choices, choicesOf, choose } from "../state/run-choices.ts";
import { grouped, words as shared } from "../words.ts";
import "./choices.css";
import { type Facts, factsOf } from "./facts.ts";
import { words } from "./words.ts";

interface ChoicesProps {
  readonly assistantId: string;
  /** Undefined: a new thread. */
  readonly threadId: string | undefined;
}

export function RunChoicesView({ assistantId, threadId }: ChoicesProps) {
  const facts = factsOf(assistantId);
  const now = choicesOf(threadId);
  if (facts === undefined) return null;
  const { approval_modes: modes, approval_mode: usual, models, agent_kinds: kinds, budget } = facts.choices;
  const change = (part: { readonly [Key in keyof Choices]?: Choices[Key] | undefined }): void => {
    const next = Object.entries({ ...now, ...part }).filter(([, value]) => value !== undefined);
    choose(threadId, Object.fromEntries(next));
  };
  return (
    <>
      {modes.length > 0 && (
        <Choice
          name={shared.mode}
          value={now.mode}
          first={shared.usualMode(shared.modes[usual ?? ""])}
          options={modes.map((mode) => [mode, shared.modes[mode] ?? mode])}
          onChange={(mode) => change({ mode })}
        />
      )}
      {kinds.length > 1 && (
        <Choice
          name={words.kind}
          hint={words.kindHint}
          value={now.kind}
          first={shared.usualMode(words.kinds[kinds[0] ?? ""])}
          options={kinds.slice(1).map((kind) => [kind, words.kinds[kind] ?? kind])}
          onChange={(kind) => change({ kind })}
        />
      )}
      {models.length > 0 && (
        <Choice
          name={words.model}
          value={now.model}
          first={words.ownModel(facts.model)}
          options={models.map(({ name }) => [name, name])}
          onChange={(model) => change({ model })}
        />
      )}
      {now.rules && now.rules.length > 0 && (
        <Allowed rules={now.rules} onChange={(rules) => change({ rules })} />
      )}
      {budget && <Budget facts={facts} now={now} change={change} />}
    </>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly hint?: string;
  readonly value: string | undefined;
  /** Words for no choice. */
  readonly first: string;
  readonly options: readonly (readonly [string, string])[];
  readonly onChange: (value: string | undefined) => void;
}

export function Choice({ name, hint, value, first, options, onChange }: ChoiceProps) {
  const known = value === undefined || options.some(([option]) => option === value);
  return (
    <label class="choice" title={hint}>
      <span>{name}</span>
      <select
        aria-label={name}
        value={value ?? ""}
        onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
      >
        <option value="">{first}</option>
        {options.map(([option, label]) => (
          <option key={option} value={option}>
            {label}
          </option>
        ))}
        {!known && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}

interface AllowedProps {
  readonly rules: readonly Rule[];
  readonly onChange: (rules: readonly Rule[]) => void;
}

/** Permissions of this thread, each with a button that takes it back. */
function Allowed({ rules, onChange }: AllowedProps) {
  return (
    <details class="choice budget-choice">
      <summary>{words.allowed(rules.length)}</summary>
      <div>
        <p class="muted">{words.allowedHint}</p>
        <ul>
          {rules.map((rule, index) => {
            const name = rule.prefix ? `${rule.prefix.join(" ")} …` : rule.tool;
            return (
              <li key={index}>
                <code>{name}</code>{" "}
                <button
                  type="button"
                  class="quiet"
                  aria-label={words.askAgain(name)}
                  onClick={() => onChange(rules.filter((_, at) => at !== index))}
                >
                  ×
                </button>
              </li>
            );
          })}
        </ul>
      </div>
    </details>
  );
}

interface BudgetProps {
  readonly facts: Facts;
  readonly now: Choices;
  readonly change: (part: {
    readonly maxCost?: number | undefined;
    readonly maxTokens?: number | undefined;
  }) => void;
}

function Budget({ facts, now, change }: BudgetProps) {
  const isPriced =
    now.model === undefined
      ? facts.price !== null
      : (facts.choices.models.find(({ name }) => name === now.model)?.is_priced ?? false);
  const calls = facts.budget?.max_steps_per_agent;
  const usual = calls ? words.callLimit(grouped(calls)) : words.noBudget;
  const limits = [
    ...(now.maxCost === undefined ? [] : [`$${now.maxCost}`]),
    ...(now.maxTokens === undefined ? [] : [words.tokenLimit(grouped(now.maxTokens))]),
  ];
  return (
    <details class="choice budget-choice">
      <summary>
        {words.budget}: {limits.length === 0 ? usual : words.limited(limits)}
      </summary>
      <div>
        <p class="muted">{words.budgetHint}</p>
        {calls && <p class="muted">{words.callHint(grouped(calls))}</p>}
        {(isPriced || now.maxCost !== undefined) && (
          <Limit
            name={words.dollars}
            value={now.maxCost}
            step="any"
            onChange={(maxCost) => change({ maxCost })}
          />
        )}
        {!isPriced && <p class="muted">{words.noPrice}</p>}
        <Limit
          name={words.tokens}
          value={now.maxTokens}
          step="1"
          onChange={(tokens) => change({ maxTokens: tokens && Math.round(tokens) })}
        />
      </div>
    </details>
  );
}

interface LimitProps {
  readonly name: string;
  readonly value: number | undefined;
  readonly step: string;
  readonly onChange: (value: number | undefined) => void;
}

/** A number that is typed stays while the page is drawn again, and counts when the field is left. */
function Limit({ name, value, step, onChange }: LimitProps) {
  const [typed, setTyped] = useState<string>();
  return (
    <label>
      {name}
      <input
        type="number"
        min={0}
        step={step}
        value={typed ?? value ?? ""}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
        onChange={({ currentTarget: { value: text, valueAsNumber: amount } }) => {
          setTyped(undefined);
          onChange(text !== "" && amount >= 0 ? amount : undefined);
        }}
        onKeyDown={(event) => {
          if (event.key !== "Enter") return;
          // The form would send the message.
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
    </label>
  );
}
