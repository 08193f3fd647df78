/** SB-13: of two sandboxes one exchanges directories for links while the other is set up. */
import { type Outcome, Verdict } from "../../../checkpoint/src/chaos/outcome.ts";
import type { ChaosSite } from "../../../checkpoint/src/chaos/site.ts";
import { raceRoots, raceSandboxes } from "../../../sandboxes/src/os/race-for-tests.ts";

export async function racedSandboxes(site: ChaosSite, { seconds }: { seconds: number }): Promise<Outcome> {
  const verdict = new Verdict("sandbox-race");
  let tried = 0;
  for (const [subject, race] of [
    ["what is mounted", raceSandboxes],
    ["the directory of a sandbox", raceRoots],
  ] as const) {
    const { commands, problems } = await race({ directory: site.directory(), seconds });
    tried += commands;
    verdict.add(subject, commands === 0 ? ["no command was run"] : problems);
  }
  return verdict.outcome(`${tried} commands`);
}
