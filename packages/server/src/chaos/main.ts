/** `npm run chaos`: all scenarios of the repository. */
import { main } from "../../../checkpoint/src/chaos/main.ts";
import { SCENARIOS } from "../../../checkpoint/src/chaos/scenarios.ts";
import { DISK_SCENARIOS } from "./disk-races.ts";
import { SERVER_SCENARIOS } from "./scenarios.ts";

process.exitCode = await main([...SCENARIOS, ...SERVER_SCENARIOS, ...DISK_SCENARIOS]);
