import { expect, test } from "vitest";
import { inTest } from "../test-site.ts";
import { diskFull } from "./disk-full.ts";

const isLinux = process.platform === "linux";
if (!isLinux) console.warn("R-05 is left out: a small disk of its own needs the namespaces of Linux.");

test.runIf(isLinux)(
  "R-05 a full disk is a typed error, and the run goes on once there is space",
  async () => {
    const outcome = await inTest((site) => diskFull(site, { times: 3 }));
    expect(outcome).toMatchObject({ ok: 3, failures: [] });
  },
);
