import { saverSuite } from "./saver-suite-for-tests.ts";
import { SharedMemorySaver } from "./shared-memory-saver.ts";

saverSuite("SharedMemorySaver", async () => new SharedMemorySaver(), { exactSize: true });
