import { Duplex } from "node:stream";
import { type ConnectionOptions, connect } from "node:tls";
import { describe, expect, test } from "vitest";
import { readClientHello } from "./client-hello.ts";

/** The first bytes of a real client. */
function helloOf(options: ConnectionOptions): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({
      read() {},
      write(chunk: Buffer) {
        resolve(chunk);
      },
    });
    connect({ socket, ...options }).on("error", () => {});
  });
}

/** The same handshake in records of at most `size` bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const body = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    records.push(Buffer.from([0x16, 3, 1, part.length >> 8, part.length & 0xff]), part);
  }
  return Buffer.concat(records);
}

describe("the server name of a real hello", () => {
  test.each(["TLSv1.2", "TLSv1.3"] as const)("is read with %s", async (version) => {
    const hello = await helloOf({ servername: "api.example.com", minVersion: version, maxVersion: version });
    expect(readClientHello(hello)).toEqual({ state: "complete", serverName: "api.example.com" });
  });

  test("is absent when the client names none", async () => {
    expect(readClientHello(await helloOf({}))).toEqual({ state: "complete", serverName: undefined });
  });

  test("is read when the hello comes byte by byte, or in many records", async () => {
    const hello = await helloOf({ servername: "api.example.com" });
    for (let end = 0; end < hello.length; end++)
      expect(readClientHello(hello.subarray(0, end)).state).toBe("incomplete");
    for (const size of [1, 2, 3, 50, 120])
      expect(readClientHello(inRecords(hello, size))).toMatchObject({ serverName: "api.example.com" });
  });
});

test("what is not a hello is invalid, and nothing makes it throw", async () => {
  const hello = await helloOf({ servername: "api.example.com" });
  expect(readClientHello(Buffer.from("GET / HTTP/1.1\r\n")).state).toBe("invalid");
  expect(readClientHello(Buffer.from([0x16, 3, 1, 0, 0])).state).toBe("invalid");
  expect(readClientHello(Buffer.from([0x16, 3, 1, 0xff, 0xff])).state).toBe("invalid");
  expect(readClientHello(Buffer.from([0x16, 3, 1, 0, 4, 1, 0xff, 0xff, 0xff])).state).toBe("invalid");
  expect(readClientHello(Buffer.concat(Array(20_000).fill(Buffer.from([0x16, 3, 1, 0, 1, 1])))).state).toBe(
    "invalid",
  );
  for (let at = 0; at < hello.length; at++)
    for (const value of [0, 1, 0x7f, 0xff]) {
      const broken = Buffer.from(hello);
      broken[at] = value;
      expect(["complete", "invalid", "incomplete"]).toContain(readClientHello(broken).state);
    }
});

test("a name of another kind, or in a list of another length, is invalid", async () => {
  const hello = await helloOf({ servername: "api.example.com" });
  const start = hello.indexOf("api.example.com") - 9;
  for (const [at, value] of [
    [start + 6, 1],
    [start + 5, (hello[start + 5] as number) + 1],
    [start + 8, (hello[start + 8] as number) - 1],
  ] as const) {
    const broken = Buffer.from(hello);
    broken[at] = value;
    expect(readClientHello(broken).state).toBe("invalid");
  }
});

test("two names in one hello are invalid: who reads it may take the other one", async () => {
  const hello = await helloOf({ servername: "api.example.com", maxVersion: "TLSv1.2" });
  const name = Buffer.from("api.example.com");
  const start = hello.indexOf(name) - 9;
  const extension = hello.subarray(start, start + 9 + name.length);
  const doubled = Buffer.concat([hello.subarray(0, start), extension, hello.subarray(start)]);
  const grow = (at: number) => doubled.writeUInt16BE(doubled.readUInt16BE(at) + extension.length, at);
  grow(3);
  grow(7);
  let at = 43;
  at += 1 + doubled[at]!;
  at += 2 + doubled.readUInt16BE(at);
  at += 1 + doubled[at]!;
  grow(at);
  expect(readClientHello(doubled).state).toBe("invalid");
});
