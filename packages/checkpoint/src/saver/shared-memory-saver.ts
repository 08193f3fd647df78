import { MemoryStorage } from "../storage/memory-storage.ts";
import { SharedSaver } from "./shared-saver.ts";

/** Threads in memory, with every message and file kept once. */
export class SharedMemorySaver extends SharedSaver {
  constructor() {
    super(new MemoryStorage());
  }
}
