/** Races on a disk, at full length: another process turns links while a backend works. */
import type { Scenario } from "../../../checkpoint/src/chaos/scenarios.ts";
import {
  guardRace,
  policyRace,
  type Race,
  rootRace,
  searchRace,
} from "../../../core/src/permissions/disk-races-for-tests.ts";

const MILLISECONDS = 60_000;

export const DISK_SCENARIOS: readonly Scenario[] = [
  scenario("race-search", "a directory exchanged with a link to outside during grep and glob", searchRace),
  scenario("race-permissions", "a link turned between an allowed and a denied place", guardRace),
  scenario("race-policy", "the same under a PolicyBackend", policyRace),
  scenario("race-root", "the directory around the root exchanged with a link to outside", rootRace),
];

function scenario(name: string, says: string, race: Race): Scenario {
  return {
    name,
    says,
    minutes: 1,
    platform: "linux",
    run: async (site) => {
      const { rounds, problems } = await race(site.directory(), MILLISECONDS);
      return { name, ok: rounds - problems.length, failures: problems, figures: `${rounds} rounds` };
    },
  };
}
