import { MemoryStorage } from "./memory-storage.ts";
import { storageSuite } from "./storage-suite-for-tests.ts";

storageSuite("MemoryStorage", async () => new MemoryStorage());
