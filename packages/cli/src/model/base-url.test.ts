import { expect, it } from "vitest";
import { ollamaUrl, shownUrl } from "./base-url.ts";

it.each([
  [undefined, "http://127.0.0.1:11434"],
  ["", "http://127.0.0.1:11434"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["0.0.0.0:8080", "http://127.0.0.1:8080"],
  ["box", "http://box:11434"],
  ["box:80", "http://box"],
  [":9999", "http://127.0.0.1:9999"],
  ["https://ollama.example.com", "https://ollama.example.com"],
  ["http://box:11434/", "http://box:11434"],
])("OLLAMA_HOST %s is asked at %s", (host, url) => {
  expect(ollamaUrl(host)).toBe(url);
});

it("an address is shown without its password", () => {
  expect(shownUrl("http://me:secret@box:80/v1")).toBe("http://box/v1");
  expect(shownUrl("http://box/v1")).toBe("http://box/v1");
});
