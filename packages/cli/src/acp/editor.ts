/** The editor at the other end: what it offers, and the calls to it. */
import type {
  AgentContext,
  ClientCapabilities,
  CreateElicitationRequest,
  CreateElicitationResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
} from "@agentclientprotocol/sdk";

/** Editors that show no plans, by the name they give themselves. Their plans are sent as text. */
const WITHOUT_PLANS = /codecompanion/i;

export class Editor {
  constructor(
    readonly context: AgentContext,
    readonly capabilities: ClientCapabilities,
    private readonly name: string,
  ) {}

  get showsPlans(): boolean {
    return !WITHOUT_PLANS.test(this.name);
  }

  get readsFiles(): boolean {
    return this.capabilities.fs?.readTextFile === true;
  }

  get writesFiles(): boolean {
    return this.capabilities.fs?.writeTextFile === true;
  }

  get hasTerminals(): boolean {
    return this.capabilities.terminal === true;
  }

  get hasForms(): boolean {
    return Boolean(this.capabilities.elicitation?.form);
  }

  get showsNotices(): boolean {
    return Boolean(this.capabilities.session?.notices);
  }

  /** Updates arrive in the order of these calls. An editor that is gone gets nothing. */
  update(sessionId: string, update: SessionUpdate): void {
    this.context.notify("session/update", { sessionId, update }).catch(() => undefined);
  }

  askPermission(request: RequestPermissionRequest, signal: AbortSignal): Promise<RequestPermissionResponse> {
    return this.context.request("session/request_permission", request, waiting(signal));
  }

  elicit(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse> {
    return this.context.request("elicitation/create", request, waiting(signal));
  }

  /** The text of a buffer or file; undefined: the editor does not give it. `path` is absolute. */
  async textOf(sessionId: string, path: string): Promise<string | undefined> {
    try {
      const { content } = await this.context.request("fs/read_text_file", { sessionId, path });
      return typeof content === "string" ? content : undefined;
    } catch {
      return undefined;
    }
  }

  async writeText(sessionId: string, path: string, content: string): Promise<void> {
    await this.context.request("fs/write_text_file", { sessionId, path, content });
  }
}

/** A question that was cancelled is not waited for: not every editor answers it then. */
function waiting(signal: AbortSignal) {
  return { cancellationSignal: signal, stopWaitingOnCancel: true };
}
