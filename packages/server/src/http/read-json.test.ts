import { describe, expect, test } from "vitest";
import { withinCpuLimit } from "../../../../scripts/test-time.ts";
import { LIMITS } from "./limits/limits.ts";
import { Problem } from "./problems.ts";
import { readJson } from "./read-json.ts";

function post(
  body: string | undefined,
  headers: Record<string, string> = { "content-type": "application/json" },
) {
  return new Request("http://localhost/", { method: "POST", headers, ...(body !== undefined && { body }) });
}

async function refusal(request: Request, limits = LIMITS): Promise<string> {
  const error = await readJson(request, limits).then(
    (value) => expect.unreachable(`took ${JSON.stringify(value).slice(0, 100)}`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return (error as Problem).code;
}

describe("the body of a request", () => {
  test("is read when it is JSON and says so", async () => {
    expect(await readJson(post('{"a":["]\\"}{",1]}'), LIMITS)).toEqual({ a: [']"}{', 1] });
    expect(
      await readJson(post("[1]", { "content-type": "application/json; charset=utf-8" }), LIMITS),
    ).toEqual([1]);
  });

  test("may be missing", async () => {
    expect(await readJson(post(undefined), LIMITS)).toBeUndefined();
    expect(await readJson(new Request("http://localhost/", { method: "POST" }), LIMITS)).toBeUndefined();
  });

  test("is refused in another type, also when it is JSON", async () => {
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data",
      "text/json",
    ])
      expect(await refusal(post("{}", { "content-type": type }))).toBe("UNSUPPORTED_MEDIA_TYPE");
    const bytes = new Request("http://localhost/", { method: "POST", body: new Uint8Array([0x7b, 0x7d]) });
    expect(await refusal(bytes)).toBe("UNSUPPORTED_MEDIA_TYPE");
  });

  test("is refused beyond its size before it is whole", async () => {
    let given = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        given += 1_000;
        controller.enqueue(new Uint8Array(1_000).fill(0x20));
      },
    });
    const headers = { "content-type": "application/json" };
    const request = new Request("http://localhost/", {
      method: "POST",
      headers,
      body: endless,
      duplex: "half",
    } as RequestInit);
    expect(await refusal(request, { ...LIMITS, bodyBytes: 10_000 })).toBe("TOO_LARGE");
    expect(given).toBeLessThan(20_000);
  });

  test("is refused deep or with very many values, in little time", async () => {
    const many = Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(",");
    await withinCpuLimit("a body that is too deep or has too many values is refused", async () => {
      for (const body of ["[".repeat(100_000), `{${'"a":{'.repeat(100_000)}`, `{${many}}`])
        expect(await refusal(post(body))).toBe("INVALID_REQUEST");
    });
  });

  test("cannot bring a prototype along, however it is spelled", async () => {
    expect(await refusal(post('{"a":{"__proto__":{"polluted":1}}}'))).toBe("INVALID_REQUEST");
    expect(await refusal(post('[{"\\u005f_proto__":{"polluted":1}}]'))).toBe("INVALID_REQUEST");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("is refused when it is no JSON or no UTF-8", async () => {
    expect(await refusal(post("{"))).toBe("INVALID_REQUEST");
    expect(await refusal(post('"unfinished'))).toBe("INVALID_REQUEST");
    const headers = { "content-type": "application/json" };
    const bytes = new Uint8Array([0x22, 0xff, 0x22]);
    expect(await refusal(new Request("http://localhost/", { method: "POST", headers, body: bytes }))).toBe(
      "INVALID_REQUEST",
    );
  });
});
