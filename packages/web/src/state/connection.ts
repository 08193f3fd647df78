/** Requests to the server of this page. The session is a cookie that scripts cannot read. */
import { connect, ProtocolError, type RawRequest } from "@deepwright/protocol/live";
import { signal } from "@preact/signals";

export const connection = connect({ baseUrl: location.origin });

/** `unknown` until the first answer. */
export const session = signal<"unknown" | "in" | "out">("unknown");

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export async function request(method: Method, path: string, raw: RawRequest = {}): Promise<Response> {
  try {
    const response = await connection.request({ method, path }, raw);
    session.value = "in";
    return response;
  } catch (error) {
    if (error instanceof ProtocolError && error.status === 401) session.value = "out";
    throw error;
  }
}

/** The answer as JSON. Undefined: there is none. */
export async function call<Answer>(method: Method, path: string, raw: RawRequest = {}): Promise<Answer> {
  const text = await (await request(method, path, raw)).text();
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

/** Whether the server refused the code of the last link. */
export const linkRefused = signal(false);

/** The code in the address is used once, and leaves the address at once. */
export async function signInByAddress(): Promise<void> {
  const code = /^#code=([\w.~-]{1,512})$/.exec(location.hash)?.[1];
  if (code === undefined) return;
  history.replaceState(null, "", location.pathname);
  try {
    // A code that is refused says nothing about a session that the browser has.
    await connection.request({ method: "POST", path: "/sign-in" }, { body: { code } });
    session.value = "in";
    linkRefused.value = false;
  } catch {
    linkRefused.value = true;
  }
}

export async function signOut(): Promise<void> {
  await request("DELETE", "/sign-in").catch(() => undefined);
  session.value = "out";
}

/** Words of a failure, for people. */
export function failureWords(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
