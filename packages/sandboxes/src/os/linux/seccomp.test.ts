import { expect, it } from "vitest";
import { seccompFilter } from "./seccomp.ts";

const ALLOWED = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const EAFNOSUPPORT = 0x00050061;
const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Runs the program as the kernel does. */
function judge(
  architecture: "x64" | "arm64",
  call: number,
  args: readonly number[] = [],
  audit = AUDIT[architecture],
): number {
  const bytes = seccompFilter(architecture) as Uint8Array;
  const program = new DataView(bytes.buffer);
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, call, true);
  data.setUint32(4, audit, true);
  for (const [index, value] of args.entries()) data.setBigUint64(16 + index * 8, BigInt(value), true);
  let accumulator = 0;
  for (let at = 0; at < bytes.length / 8; at += 1) {
    const [code, yes, no, value] = [
      program.getUint16(at * 8, true),
      program.getUint8(at * 8 + 2),
      program.getUint8(at * 8 + 3),
      program.getUint32(at * 8 + 4, true),
    ];
    if (code === 0x06) return value;
    if (code === 0x20) accumulator = data.getUint32(value, true);
    else {
      const holds =
        code === 0x15
          ? accumulator === value
          : code === 0x35
            ? accumulator >= value
            : (accumulator & value) !== 0;
      at += holds ? yes : no;
    }
  }
  throw new Error("The program has no end.");
}

it.each([
  [
    "x64",
    {
      read: 0,
      clone: 56,
      ptrace: 101,
      clone3: 435,
      socket: 41,
      ioctl: 16,
      openat: 257,
      fchmodat: 268,
      fork: 57,
    },
  ],
  [
    "arm64",
    {
      read: 63,
      clone: 220,
      ptrace: 117,
      clone3: 435,
      socket: 198,
      ioctl: 29,
      openat: 56,
      fchmodat: 53,
      fork: 1079,
    },
  ],
] as const)(
  "SB-05 the filter for %s refuses what leads out and lets the rest through",
  (architecture, number) => {
    const of = (call: number, ...args: number[]): number => judge(architecture, call, args);
    expect(of(number.read)).toBe(ALLOWED);
    expect(of(number.fork)).toBe(ALLOWED);
    expect(of(number.ptrace)).toBe(EPERM);
    expect(of(number.clone3)).toBe(ENOSYS);
    expect(of(number.clone, 0x01200011)).toBe(ALLOWED);
    expect(of(number.clone, 0x003d0f00)).toBe(ALLOWED);
    for (const flag of [0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x04000000, 0x08000000, 0x02000000])
      expect(of(number.clone, flag | 17), flag.toString(16)).toBe(EPERM);
    for (const family of [1, 2, 10]) expect(of(number.socket, family, 1, 0)).toBe(ALLOWED);
    for (const family of [3, 17, 38, 40, 44]) expect(of(number.socket, family, 3, 0)).toBe(EAFNOSUPPORT);
    expect(of(number.socket, 16, 3, 0)).toBe(ALLOWED);
    expect(of(number.socket, 16, 3, 9)).toBe(EAFNOSUPPORT);
    expect(of(number.ioctl, 0, 0x5401)).toBe(ALLOWED);
    for (const request of [0x5412, 0x541c, 0x100005412]) expect(of(number.ioctl, 0, request)).toBe(EPERM);
    expect(of(number.openat, -0, 0, 0, 0o4755)).toBe(ALLOWED);
    expect(of(number.openat, 0, 0, 0o101, 0o644)).toBe(ALLOWED);
    expect(of(number.openat, 0, 0, 0o101, 0o4755)).toBe(EPERM);
    expect(of(number.openat, 0, 0, 0o20200001, 0o2755)).toBe(EPERM);
    expect(of(number.fchmodat, 0, 0, 0o755)).toBe(ALLOWED);
    expect(of(number.fchmodat, 0, 0, 0o4755)).toBe(EPERM);
  },
);

it("knows calls of one architecture alone, and none of x32", () => {
  expect(judge("x64", 0, [], 0x40000003)).toBe(ENOSYS);
  expect(judge("x64", 0x40000000 + 101)).toBe(ENOSYS);
  expect(judge("arm64", 63, [], AUDIT.x64)).toBe(ENOSYS);
});

it("there is none for an architecture whose numbers are not known", () => {
  expect(seccompFilter("riscv64")).toBeUndefined();
});
