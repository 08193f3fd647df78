import { expect, test } from "vitest";
import { isLinkLocalAddress, isPublicAddress } from "./address.ts";

test.each([
  "127.0.0.1",
  "127.255.255.254",
  "0.0.0.0",
  "0.1.2.3",
  "10.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "169.254.169.254",
  "100.64.0.1",
  "192.0.0.1",
  "192.0.2.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "224.0.0.1",
  "240.0.0.1",
  "255.255.255.255",
  "::",
  "::1",
  "::127.0.0.1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::ffff:8.8.8.8",
  "::ffff:0:127.0.0.1",
  "64:ff9b::7f00:1",
  "64:ff9b::8.8.8.8",
  "64:ff9b:1::a00:1",
  "2002:7f00:1::",
  "2001:0:7f00:1::",
  "2001:db8::1",
  "3fff::1",
  "100::1",
  "fc00::1",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "fec0::1",
  "ff02::1",
  "5f00::1",
  "",
  "example.com",
  "127.0.0.1.nip.io",
])("TR-07 %j is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(["8.8.8.8", "93.184.216.34", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "2a00:1450::1"])(
  "%j is public",
  (address) => {
    expect(isPublicAddress(address)).toBe(true);
  },
);

test.each(["169.254.169.254", "::ffff:169.254.169.254", "fe80::1", "fe80::1%eth0"])(
  "TR-07 %j is link-local",
  (address) => {
    expect(isLinkLocalAddress(address)).toBe(true);
  },
);

test.each(["127.0.0.1", "10.0.0.1", "::1", "8.8.8.8", "", "example.com"])(
  "%j is not link-local",
  (address) => {
    expect(isLinkLocalAddress(address)).toBe(false);
  },
);
