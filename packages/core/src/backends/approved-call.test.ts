import { expect, it } from "vitest";
import { approvedConfig, approvedPaths, isApprovedCall, withoutApproval } from "./approved-call.ts";

const config = { configurable: { thread_id: "t", checkpoint_ns: "tools:1" } };

it("an approved call may do it where it was approved, in its own task", () => {
  const approved = approvedConfig(config, "call", ["/a"]);
  expect(approvedPaths({ config: approved })).toEqual(["/a"]);
  expect(approvedPaths({ config: approvedConfig(config, "call") })).toBe("anywhere");
  const inner = { configurable: { ...approved.configurable, checkpoint_ns: "tools:1|tools:2" } };
  expect(isApprovedCall({ config: inner })).toBe(false);
  expect(isApprovedCall({ config })).toBe(false);
});

it("runs inside the call do not have its approval, and keep all else", () => {
  expect(withoutApproval(approvedConfig(config, "call"))).toEqual(config);
  expect(isApprovedCall({ config: withoutApproval(approvedConfig(config, "call")) })).toBe(false);
  expect(withoutApproval(config)).toBe(config);
});
