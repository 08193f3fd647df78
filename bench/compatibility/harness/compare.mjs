/** Compares two answers and looks up which differences are listed. */

/**
 * One row of the table. `listed` entries name the program, the places where the answers may differ, and why. A place
 * covers everything below it; `type check` stands for the errors of the type checker.
 */
export function compare({ name, theirs, ours, types, listed }) {
  const broken = types.deepagents[name]?.map((text) => `types on deepagents: ${text}`) ?? [];
  if (theirs[name].threw !== undefined) broken.push(`threw on deepagents: ${theirs[name].threw}`);
  const found = places(theirs[name].value, ours[name].value, "");
  if (ours[name].threw !== undefined) found.splice(0, found.length, { at: "threw", ours: ours[name].threw });
  for (const text of types.deepwright[name] ?? []) found.push({ at: "type check", ours: text });
  const reasons = listed.filter((entry) => entry.program === name);
  const isListed = ({ at }) => reasons.some((entry) => entry.at.some((place) => covers(place, at)));
  const covered = found.filter(isListed);
  const used = reasons.filter((entry) =>
    entry.at.some((place) => covered.some(({ at }) => covers(place, at))),
  );
  const unused = reasons.filter((entry) => !used.includes(entry));
  return { name, broken, used, unused, covered, different: found.filter((one) => !covered.includes(one)) };
}

export function isFailure(row) {
  return row.broken.length > 0 || row.different.length > 0;
}

function covers(place, at) {
  return at === place || at.startsWith(`${place}.`);
}

/** Every place where two JSON values differ. Lists of different lengths differ as a whole. */
function places(theirs, ours, at) {
  if (Object.is(theirs, ours)) return [];
  const isList = Array.isArray(theirs) && Array.isArray(ours);
  const sameShape = isList ? theirs.length === ours.length : isRecord(theirs) && isRecord(ours);
  if (!sameShape) return [{ at, theirs, ours }];
  const keys = new Set([...Object.keys(theirs), ...Object.keys(ours)]);
  return [...keys].flatMap((key) => places(theirs[key], ours[key], at === "" ? key : `${at}.${key}`));
}

function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function tableOf(rows, show) {
  const lines = ["| program | result |", "|---|---|"];
  for (const row of rows) lines.push(`| ${row.name} | ${verdict(row)} |`);
  const count = (test) => rows.filter(test).length;
  const failed = count(isFailure);
  const listed = count((row) => !isFailure(row) && row.used.length > 0);
  lines.push(
    "",
    `${rows.length} programs: ${rows.length - failed - listed} same, ${listed} with listed differences, ${failed} DIFFERENT`,
  );
  for (const row of rows) lines.push(...details(row, show));
  return `${lines.join("\n")}\n`;
}

function verdict(row) {
  if (row.broken.length > 0) return "DIFFERENT (the program does not run on deepagents)";
  if (row.different.length > 0)
    return `DIFFERENT (${[...new Set(row.different.map(({ at }) => at || "all"))].join(", ")})`;
  if (row.used.length > 0)
    return `listed difference (${row.used.map(({ what, why }) => `${what}: ${why}`).join("; ")})`;
  return "same";
}

function details(row, show) {
  const lines = row.broken.map((text) => `  ${text}`);
  for (const one of show ? [...row.different, ...row.covered] : row.different) {
    lines.push(`  ${one.at || "all"}${row.covered.includes(one) ? " (listed)" : ""}`);
    if ("theirs" in one) lines.push(`    deepagents: ${brief(one.theirs)}`);
    lines.push(`    deepwright: ${brief(one.ours)}`);
  }
  for (const { what } of isFailure(row) ? [] : row.unused) lines.push(`  listed, but the same now: ${what}`);
  return lines.length === 0 ? [] : ["", row.name, ...lines];
}

function brief(value) {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "nothing");
  return text.length > 700 ? `${text.slice(0, 700)}…` : text;
}
