import type { AddressInfo } from "node:net";
import { createServer, Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import type { EgressEvent } from "./egress-options.ts";
import { checkEgressOptions } from "./egress-policy.ts";
import { connectTo, createGate, DEFAULT_LIMITS, type GateParts } from "./gate.ts";

const target = { host: "api.example.com", port: 443 };

async function gateWith(parts: Partial<GateParts> = {}) {
  const events: EgressEvent[] = [];
  const server = createServer((socket) => socket.resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const policy = checkEgressOptions({ allow: [target.host], onConnection: (event) => events.push(event) });
  const gate = createGate(policy, {
    lookup: async () => ["192.0.2.1"],
    isPublic: () => true,
    connect: () => connectTo("127.0.0.1", port),
    limits: DEFAULT_LIMITS,
    ...parts,
  });
  onTestFinished(() => {
    gate.close();
    server.close();
  });
  return { gate, events };
}

test("a connection that comes to be while the gate closes is nobody's", async () => {
  let found = (_: readonly string[]): void => {};
  const lookup = () =>
    new Promise<readonly string[]>((resolve) => {
      found = resolve;
    });
  const { gate, events } = await gateWith({ lookup });
  const connecting = gate.connect(target);
  gate.close();
  found(["192.0.2.1"]);
  await expect(connecting).rejects.toMatchObject({ status: 503, message: "the egress proxy is closed" });
  expect(events).toEqual([]);
  await expect(gate.connect(target)).rejects.toMatchObject({ status: 503 });
});

test("a host that does not answer in time is told apart from one that refuses", async () => {
  const limits = { ...DEFAULT_LIMITS, connectTimeout: 60 };
  const silent = await gateWith({ limits, connect: () => new Socket() });
  await expect(silent.gate.connect(target)).rejects.toMatchObject({
    status: 504,
    message: "api.example.com does not answer",
  });
  const refusing = await gateWith({ connect: () => connectTo("127.0.0.1", 1) });
  await expect(refusing.gate.connect(target)).rejects.toMatchObject({
    status: 502,
    message: "api.example.com cannot be reached (ECONNREFUSED)",
  });
});

test("a name without an address, or one that cannot be found, is told", async () => {
  const none = await gateWith({ lookup: async () => [] });
  await expect(none.gate.connect(target)).rejects.toMatchObject({ status: 502, message: /has no address/ });
  const unknown = await gateWith({
    lookup: () => Promise.reject(Object.assign(new Error("no"), { code: "ENOTFOUND" })),
  });
  await expect(unknown.gate.connect(target)).rejects.toThrow("cannot be resolved (ENOTFOUND)");
  const slow = await gateWith({
    lookup: () => new Promise(() => {}),
    limits: { ...DEFAULT_LIMITS, connectTimeout: 60 },
  });
  await expect(slow.gate.connect(target)).rejects.toMatchObject({
    status: 504,
    message: /not resolved in time/,
  });
});

test("one address that is not public is reason enough; who is refused and who is let out is told", async () => {
  const lookup = async () => ["192.0.2.1", "10.0.0.1"];
  const { gate, events } = await gateWith({ lookup, isPublic: (address) => address !== "10.0.0.1" });
  await expect(gate.connect(target)).rejects.toMatchObject({ status: 403 });
  expect(() => gate.check({ ...target, port: 22 })).toThrow("port 22 of api.example.com is not on");
  expect(() => gate.check({ host: "b.example.com", port: 443 })).toThrow("b.example.com is not on");
  expect(events.map(({ host, allowed }) => [host, allowed])).toEqual([
    ["api.example.com", false],
    ["api.example.com", false],
    ["b.example.com", false],
  ]);
  const open = await gateWith();
  (await open.gate.connect(target)).destroy();
  expect(open.events).toEqual([{ ...target, allowed: true }]);
});

test("as many connections go out as are allowed at a time", async () => {
  const { gate } = await gateWith({ limits: { ...DEFAULT_LIMITS, connections: 1 } });
  const first = await gate.connect(target);
  await expect(gate.connect(target)).rejects.toMatchObject({ status: 503 });
  first.destroy();
  await new Promise((resolve) => first.once("close", resolve));
  (await gate.connect(target)).destroy();
});

test("connections are told to whoever listens, with a reason where they are refused", async () => {
  const { gate, events } = await gateWith();
  (await gate.connect(target)).destroy();
  await expect(gate.connect({ host: "other.example.com", port: 443 })).rejects.toThrow();
  expect(events).toStrictEqual([
    { ...target, allowed: true },
    { host: "other.example.com", port: 443, allowed: false, reason: expect.any(String) },
  ]);
});

test("nobody has to listen", async () => {
  const warnings: string[] = [];
  const note = ({ message }: Error): number => warnings.push(message);
  process.on("warning", note);
  onTestFinished(() => void process.off("warning", note));
  const gate = createGate(checkEgressOptions({ allow: [] }), {
    lookup: async () => [],
    isPublic: () => true,
    connect: () => new Socket(),
    limits: DEFAULT_LIMITS,
  });
  await expect(gate.connect(target)).rejects.toThrow();
  await new Promise(setImmediate);
  expect(warnings.filter((message) => message.includes("onConnection"))).toEqual([]);
});
