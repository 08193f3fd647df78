import { describe, expect, test } from "vitest";
import { checkedServerUrl } from "./server-url.ts";

describe("TR-07: the address of a server", () => {
  test.each([
    ["https://agents.example.com/", "https://agents.example.com"],
    ["https://agents.example.com/team/", "https://agents.example.com/team"],
    ["http://localhost:2024", "http://localhost:2024"],
    ["http://127.0.0.1:2024", "http://127.0.0.1:2024"],
    ["http://[::1]:2024", "http://[::1]:2024"],
    ["http://203.0.114.9", "http://203.0.114.9"],
  ])("%s is taken", (url, base) => {
    expect(checkedServerUrl("a", url, false)).toBe(base);
  });

  test.each([
    ["10.0.0.7"],
    ["172.20.0.2:8123"],
    ["192.168.1.1"],
    ["100.64.0.1"],
    ["[fd00::1]"],
    ["[::ffff:a00:1]"],
    ["researcher:8000"],
    ["researcher.internal"],
  ])("%s is in a private network and taken only when that is meant", (host) => {
    expect(() => checkedServerUrl("a", `http://${host}`, false)).toThrow(/private network.*allowPrivate/);
    expect(checkedServerUrl("a", `http://${host}`, true)).toBe(`http://${host}`);
  });

  test.each([
    ["file:///etc/passwd", /must begin with http/],
    ["gopher://agents.example", /must begin with http/],
    ["agents.example", /is not a url/],
    ["http://ok@127.0.0.1", /name or password/],
    ["https://user:secret@agents.example", /name or password/],
    ["https://agents.example/?key=1", /query or a fragment/],
    ["http://0.0.0.0", /no place for a server/],
    ["http://169.254.169.254", /no place for a server/],
    ["http://[fe80::1]", /no place for a server/],
    ["http://[::]", /no place for a server/],
    ["http://2130706433", /unusual way/],
    ["http://0x7f.1", /unusual way/],
    ["http://0177.0.0.1", /unusual way/],
    ["http://[::ffff:127.0.0.1]", /unusual way/],
    ["http://[64:ff9b::a9fe:a9fe]", /no place for a server/],
  ])("%s is refused whatever is allowed", (url, words) => {
    const attempt = () => checkedServerUrl("a", url, true);
    expect(attempt).toThrow(words);
    expect(attempt).toThrow(expect.objectContaining({ code: "INVALID_OPTION" }));
    expect(attempt).not.toThrow(/secret/);
  });
});
