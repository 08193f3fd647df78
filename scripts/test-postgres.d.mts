export interface TestPostgres {
  /** Address of the server's own database `postgres`. */
  readonly url: string;
  /** Safe while it runs. */
  start(): Promise<void>;
  /** `fast` rolls back and disconnects everyone, `kill` is a crash. The data stays. */
  halt(how?: "fast" | "kill"): Promise<void>;
  /** Ends the server and removes its data. Safe twice. */
  stop(): Promise<void>;
}

export function startPostgres(options?: { own?: boolean }): Promise<TestPostgres>;
export function findPostgres(): string;
