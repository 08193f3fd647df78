/** `deepwright login` and `logout`. Returns the exit code. */
import { CommandError, usageError } from "../command-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { Console } from "../terminal/console.ts";
import { hiddenLine } from "../terminal/hidden-line.ts";
import { safeLine } from "../terminal/safe-text.ts";
import { tableLines } from "../terminal/table.ts";
import { keyOwner } from "./key-names.ts";
import type { LoginAction, RawLoginOptions } from "./login-command-line.ts";
import { removeKey, storedKeys, storeKey } from "./stored-keys.ts";

export async function loginCommand(
  action: LoginAction,
  service: string | undefined,
  { list }: RawLoginOptions,
): Promise<ExitCode> {
  const console = new Console(process.stdout, process.stderr, process.env);
  if (list) return listKeys(console);
  if (service === undefined) throw usageError("Name a service, for example: deepwright login anthropic.");
  const owner = keyOwner(service);
  if (action === "logout") {
    const isGone = await removeKey(owner, process.env);
    console.line(isGone ? `The key of ${owner.name} is removed.` : `No key of ${owner.name} is stored.`);
    return isGone ? EXIT.done : EXIT.failed;
  }
  const key = (await keyFromPerson(owner.name)).trim();
  if (!/^[\x21-\x7e]{8,1000}$/.test(key))
    throw usageError("That is no key: a key is one word of 8 to 1,000 letters, digits and signs.");
  const { title, isKeyring } = await storeKey(owner, key, process.env);
  console.line(`Stored in ${safeLine(title)}${isKeyring ? "" : " (only you can read it)"}.`);
  if (process.env[owner.variable])
    console.line(`${owner.variable} is set in this shell, and counts before the stored key.`);
  return EXIT.done;
}

async function keyFromPerson(name: string): Promise<string> {
  if (process.stdin.isTTY && process.stderr.isTTY) return hiddenLine(`Key of ${name} (not shown): `, process);
  let text = "";
  for await (const piece of process.stdin.setEncoding("utf8")) {
    text += piece;
    if (text.length > MOST_CHARACTERS) throw usageError("That is no key: it is too long.");
  }
  if (text.trim() === "") throw new CommandError("There is no key on stdin.", { exitCode: EXIT.usage });
  return text;
}

const MOST_CHARACTERS = 10_000;

async function listKeys(console: Console): Promise<ExitCode> {
  const stored = await storedKeys(process.env);
  if (stored.length === 0) console.line("No key is stored.");
  else
    for (const line of tableLines(
      [{ heading: "service" }, { heading: "in" }],
      stored.map(([name, place]) => [safeLine(name, 60), place]),
    ))
      console.result(line);
  return EXIT.done;
}
