import { homeSuite } from "./home-suite-for-tests.ts";
import { MemoryHome } from "./memory-home.ts";

homeSuite("MemoryHome", async () => new MemoryHome());
