/** What a sandbox may reach: hosts by name, and the headers that are added on the way. */

export interface EgressOptions {
  /** Names (`api.example.com`), or all names below one (`*.example.com`, which is not `example.com` itself); with `:port`, else 80 and 443. */
  readonly allow: readonly string[];
  /** Headers the proxy puts into requests, so that no secret is ever in the sandbox. The host must be allowed. */
  readonly inject?: readonly InjectedHeader[];
  /** Told of each connection that was refused or made, for logs; no header, no path. */
  readonly onConnection?: (event: EgressEvent) => void;
}

export interface InjectedHeader {
  /** One name; no pattern. */
  readonly host: string;
  readonly header: string;
  /** A function is asked for each request. */
  readonly value: string | (() => string | Promise<string>);
}

export interface EgressEvent {
  readonly host: string;
  readonly port: number;
  readonly allowed: boolean;
  /** Why it was refused, one sentence. */
  readonly reason?: string;
}
