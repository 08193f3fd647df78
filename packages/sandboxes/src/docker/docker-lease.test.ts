import { describe, test } from "vitest";
import { dockerSandbox } from "../docker.ts";
import { leaseSuite } from "../testing.ts";
import { testEngine } from "./engine-for-tests.ts";

const { socketPath, plainImage } = await testEngine();

leaseSuite(
  { describe, test },
  {
    name: "leases of containers",
    provider: () => dockerSandbox({ socketPath, image: plainImage, pull: false }),
    slackSeconds: 15,
    endsByItself: 3,
  },
);
