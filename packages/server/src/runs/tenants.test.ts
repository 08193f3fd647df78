import { describe, expect, it } from "vitest";
import { assistantIdOf } from "../agents/default-assistant.ts";
import { agentScope, LOCAL_OWNER, tenantLabel } from "./tenants.ts";

describe("the place of a run", () => {
  const own = { assistant_id: assistantIdOf("echo"), graph_id: "echo" };
  const made = { assistant_id: "8b9d1c86-1f7e-4a57-8a0e-7a1a7f3f6a11", graph_id: "echo" };

  it("on a server with one token is named by the assistant alone", () => {
    expect(agentScope(LOCAL_OWNER, made)).toEqual({ assistantId: made.assistant_id });
  });

  it("of the same assistant of two callers is never the same", () => {
    const [ada, bob] = [agentScope("ada", made), agentScope("bob", made)];
    expect(ada.tenant).toBe("ada");
    expect(ada.assistantId).toMatch(/^~/);
    expect(ada.assistantId).not.toBe(bob.assistantId);
    expect(agentScope("ada", own)).toEqual({ assistantId: own.assistant_id, tenant: "ada" });
  });

  it.each([
    ["ada", "ada"],
    ["ada@x.org", "ada@x%2Eorg"],
    ["ada@x%2Eorg", "ada@x%252Eorg"],
    ["*", "%2A"],
    ["approvals", "%61pprovals"],
  ])("of the caller %j begins with %j", (identity, label) => {
    expect(tenantLabel(identity)).toBe(label);
  });
});
