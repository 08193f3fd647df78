/** Options of egress: hosts that a sandbox may reach, and headers that are added on the way. */

/**
 * All traffic goes through a proxy of ours: HTTP, HTTPS by CONNECT, and SOCKS 5. A name is resolved outside the
 * sandbox, once for a connection, and refused when any of its addresses is not public; the checked address is dialled.
 * Redirects are left to the client, whose next request is checked like any other.
 */
export interface EgressOptions {
  /**
   * Names (`api.example.com`), or all names below one (`*.example.com`, which is not `example.com` itself); with
   * `:port`, else 80 and 443. No addresses, and no pattern for everything. An empty list allows nothing.
   */
  readonly allow: readonly string[];
  /**
   * Headers the proxy puts into requests, so that no secret is ever in the sandbox. The host must be allowed. It is
   * then reached over HTTPS alone, with HTTP/1.1: TLS ends in the proxy, under an authority made for this sandbox and
   * these hosts, and begins again to the host, whose certificate is checked.
   */
  readonly inject?: readonly InjectedHeader[];
  /** Called for each connection that was refused or made, for logs; without headers and paths. */
  readonly onConnection?: (event: EgressEvent) => void;
}

export interface InjectedHeader {
  /** One name; no pattern. On all its ports that are allowed. */
  readonly host: string;
  /** Replaces the value that the sandbox sends under this name. */
  readonly header: string;
  /**
   * A function is called for each request; when it throws, nothing is sent. The value is masked where the host sends it
   * back unchanged. Do not give it to a host that can be made to repeat it in another form.
   */
  readonly value: string | (() => string | Promise<string>);
}

export interface EgressEvent {
  /** The requested host, safe to print. */
  readonly host: string;
  /** 0 where none could be read. */
  readonly port: number;
  readonly allowed: boolean;
  /** Why it was refused. */
  readonly reason?: string;
}
