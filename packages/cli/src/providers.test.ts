import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createDeepAgent } from "deepwright";
import { afterEach, describe, expect, it } from "vitest";
import { chooseModel } from "./model/choose.ts";
import { endpoints } from "./model/endpoints.ts";
import { loadModel } from "./model/load.ts";
import { failureWords } from "./run/output/failure-words.ts";
import { ProgressView } from "./run/output/progress-view.ts";
import { endWords, exitCodeOf } from "./run/output/run-end.ts";
import { type RunnableAgent, runAgent, taskInput } from "./run/run-agent.ts";
import { Stop } from "./run/stop.ts";
import { Console } from "./terminal/console.ts";
import { type Answer, type ProviderServer, providerServer } from "./test-support/provider-server.ts";
import { type BinaryResult, directoryWith, runBinary, startBinary } from "./test-support/run-binary.ts";

const KEY = "sk-very-secret-key-0123456789";
const WRITE: Answer = {
  text: ["I write ", "a file."],
  call: { name: "write_file", args: { file_path: "/hello.txt", content: "Hello from the server" } },
};
const DONE: Answer = { text: ["All ", "done", ", friend."] };

let server: ProviderServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function serve(answers: readonly Answer[], models: readonly string[] = []): Promise<ProviderServer> {
  server = await providerServer(answers, models);
  return server;
}

interface Provider {
  readonly name: string;
  readonly args: (url: string) => readonly string[];
  readonly env: (url: string) => Record<string, string>;
  /** The line that tells the model and the reason. */
  readonly says: string;
  /** The path that was asked. */
  readonly path: RegExp;
  readonly models?: readonly string[];
}

const PROVIDERS: readonly Provider[] = [
  {
    name: "a provider of the library's table that speaks OpenAI's protocol",
    args: () => ["--model", "baseten:zai-org/GLM-5"],
    env: (url) => ({ BASETEN_API_KEY: KEY, BASETEN_BASE_URL: `${url}/v1` }),
    says: "Model: baseten:zai-org/GLM-5 (--model)",
    path: /^\/v1\/chat\/completions$/,
  },
  {
    name: "Anthropic, by its key",
    args: () => [],
    env: (url) => ({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url, OPENAI_API_KEY: "sk-another-key" }),
    says: "Model: anthropic:claude-sonnet-4-6 (ANTHROPIC_API_KEY is set)",
    path: /^\/v1\/messages$/,
  },
  {
    name: "OpenAI's chat completions, by key and OPENAI_BASE_URL",
    args: () => [],
    env: (url) => ({ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${url}/v1` }),
    says: "Model: openai:gpt-5.2 (OPENAI_API_KEY is set",
    path: /^\/v1\/chat\/completions$/,
    models: ["gpt-mini", "gpt-5.2"],
  },
  {
    name: "OpenAI's Responses, for a model that wants them",
    args: (url) => ["--model", "openai:gpt-5.4-pro", "--base-url", `${url}/v1`],
    env: () => ({ OPENAI_API_KEY: KEY }),
    says: "Model: openai:gpt-5.4-pro (--model, at http://127.0.0.1",
    path: /^\/v1\/responses$/,
  },
  {
    name: "an OpenAI-compatible server without a key, which gets no key of another provider",
    args: (url) => ["--base-url", `${url}/v1`],
    env: () => ({ ANTHROPIC_API_KEY: KEY, GOOGLE_API_KEY: KEY }),
    says: "Model: openai:local-model (--base-url is http://127.0.0.1",
    path: /^\/v1\/chat\/completions$/,
    models: ["local-model"],
  },
  {
    name: "Google, by DEEPWRIGHT_MODEL",
    args: (url) => ["--base-url", url],
    env: () => ({ GOOGLE_API_KEY: KEY, DEEPWRIGHT_MODEL: "google" }),
    says: "Model: google:gemini-3.1-pro-preview (DEEPWRIGHT_MODEL, at http://127.0.0.1",
    path: /gemini-3\.1-pro-preview:streamGenerateContent/,
  },
  {
    name: "Ollama, because it answers",
    args: () => [],
    env: (url) => ({ OLLAMA_HOST: url.replace("http://", "") }),
    says: "Model: ollama:with-tools:7b (Ollama answers at http://127.0.0.1",
    path: /^\/api\/chat$/,
    models: ["plain:1b", "with-tools:7b"],
  },
];

describe("a real provider library against a server on this machine", () => {
  it.each(PROVIDERS)(
    "$name: streams, calls a tool and finishes",
    async ({ name, args, env, says, path, models }) => {
      const { url, asked, requests } = await serve([WRITE, DONE], models);
      const cwd = await directoryWith({ "notes.txt": "a note" });
      const more = ["--system", "Speak like a gardener"];
      const result = await runBinary(["run", "Write hello", ...more, ...args(url)], {
        cwd,
        env: env(url),
      });
      expect(JSON.stringify(asked()[0]?.body)).toContain("Speak like a gardener");
      expect(result.stderr).toContain(says);
      expect(result.stdout).toBe("I write a file.\nAll done, friend.\n");
      expect(result.stderr).toContain("● write_file /hello.txt");
      expect(result.stderr).toMatch(/✔ done · .* s · 1 tool call · \d+ tokens in, \d+ out/);
      expect(result.code).toBe(0);
      expect(await readFile(join(cwd, "hello.txt"), "utf8")).toBe("Hello from the server");
      expect(asked().map((request) => request.path.split("?")[0])).toEqual([
        expect.stringMatching(path),
        expect.stringMatching(path),
      ]);
      expect(JSON.stringify(asked()[1]?.body)).toContain("Successfully wrote to '/hello.txt'");
      expect(result.all).not.toContain(KEY);
      if (name.includes("gets no key")) expect(JSON.stringify(requests)).not.toContain(KEY);
    },
  );

  it("text is shown while the reply still comes", async () => {
    let release = (): void => {};
    const hold = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { url } = await serve([{ text: ["First words", ", last words"], hold }]);
    const cwd = await directoryWith({});
    const env = { ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url };
    const running = startBinary(["run", "Talk"], { cwd, env });
    await running.shows("First words");
    expect(running.stdout()).not.toContain("done");
    release();
    expect((await running.result).stdout).toBe("First words, last words\n");
  });
});

/** One for each library. */
const [ANTHROPIC, ...OTHERS] = PROVIDERS.filter(({ name }) =>
  /^(Anthropic|OpenAI's chat|Google|Ollama)/.test(name),
) as [Provider, ...Provider[]];

async function program({ args, env, models }: Provider, answer: Answer): Promise<BinaryResult> {
  const { url } = await serve([answer], models);
  const cwd = await directoryWith({});
  return await runBinary(["run", "Hi", ...args(url)], { cwd, env: env(url) });
}

/** Runs the provider's library in this process; returns the text shown and the outcome. */
async function inProcess({ args, env, models }: Pick<Provider, "args" | "env" | "models">, answer: Answer) {
  const { url } = await serve([answer], models);
  const words = args(url);
  const given = (option: string) => (words.includes(option) ? words[words.indexOf(option) + 1] : undefined);
  const environment = env(url);
  const wish = { model: given("--model"), baseUrl: given("--base-url") };
  const choice = await chooseModel(wish, environment, endpoints);
  let stdout = "";
  const output = {
    write: (text: string) => {
      stdout += text;
    },
  };
  const console = new Console(output, { write: () => {} }, {});
  const view = new ProgressView(console, "normal");
  const agent = createDeepAgent({ model: await loadModel(choice) }) as unknown as RunnableAgent;
  const onPart = view.take.bind(view);
  const { end } = await runAgent({ agent, input: taskInput("Hi"), stop: new Stop(), onPart });
  console.endText();
  const failure = end.kind === "failed" ? failureWords(end.error, choice, environment) : "";
  return { code: exitCodeOf(end), stdout, words: endWords(end, failure) };
}

const named = (name: string): Provider => PROVIDERS.find((p) => p.name.startsWith(name)) as Provider;

describe("a provider that says no", () => {
  const refusedKey = {
    status: 401,
    body: { type: "error", error: { type: "authentication_error", message: `bad key ${KEY}` } },
  };
  const CHECK_KEY = /failed: the provider refused the key \(HTTP 401\): .*bad key.* Check /;

  it("a refused key ends with 1 and says what to check", async () => {
    const result = await program(ANTHROPIC, refusedKey);
    expect(result.stderr).toMatch(CHECK_KEY);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.all).not.toContain(KEY);
  });

  it.each(OTHERS)("$name: a refused key ends with 1 and says what to check", async (provider) => {
    const { words, ...rest } = await inProcess(provider, refusedKey);
    expect(words).toMatch(CHECK_KEY);
    expect(words).not.toContain(KEY);
    expect(rest).toEqual({ code: 1, stdout: "" });
  });

  const tooMany = {
    status: 429,
    body: { type: "error", error: { type: "rate_limit_error", message: "slow down" } },
  };
  const SLOW_DOWN = /failed: too many requests, or no quota left \(HTTP 429\): .*slow down/;

  it("too many requests end with 1 in plain words", async () => {
    const { code, stderr } = await program(ANTHROPIC, tooMany);
    expect([code, stderr]).toEqual([1, expect.stringMatching(SLOW_DOWN)]);
  });

  it.each(OTHERS)("$name: too many requests end with 1 in plain words", async (provider) => {
    const { code, words } = await inProcess(provider, tooMany);
    expect([code, words]).toEqual([1, expect.stringMatching(SLOW_DOWN)]);
  });

  it("a reply cut off at the output limit is a limit: 3", async () => {
    const result = await program(ANTHROPIC, { text: ["half a sen"], stopReason: "max_tokens" });
    expect(result.stderr).toContain("✘ stopped at a limit: ");
    expect(result).toMatchObject({ code: 3, stdout: "half a sen\n" });
  });

  it.each([
    ["OpenAI's chat", "length"],
    ["Google", "MAX_TOKENS"],
  ])("%s: a reply cut off at the output limit is a limit: 3", async (name, stopReason) => {
    const result = await inProcess(named(name), { text: ["half a sen"], stopReason });
    const words = expect.stringMatching(/^stopped at a limit: /);
    expect(result).toEqual({ code: 3, stdout: "half a sen\n", words });
  });

  it.each([
    ["OpenAI's chat", "content_filter"],
    ["Google", "SAFETY"],
  ])("%s: a reply the provider filtered fails with a clear line", async (name, stopReason) => {
    const { code, words } = await inProcess(named(name), { text: ["Well"], stopReason });
    expect([code, words]).toEqual([1, expect.stringMatching(/^failed: .*(filter|stopped)/)]);
  });

  it("a model that declines fails with a clear line", async () => {
    const result = await program(ANTHROPIC, { text: ["Well"], stopReason: "refusal" });
    expect(result.stderr).toContain("✘ failed: the model declined");
    expect(result.code).toBe(1);
  });

  it("a server that is not there is named", async () => {
    const { url, close } = await serve([]);
    await close();
    const cwd = await directoryWith({});
    const named = ["--base-url", `${url}/v1`, "--model", "openai:x"];
    const result = await runBinary(["run", "Hi", ...named], { cwd });
    expect(result.stderr).toMatch(/✘ failed: the model's server cannot be reached.* Check --base-url/);
    expect(result.code).toBe(1);
    const unnamed = await runBinary(["run", "Hi", "--base-url", `${url}/v1`], { cwd });
    expect(unnamed.stderr).toContain(`--base-url is ${url}/v1, which does not say which models it has.`);
    expect(unnamed.code).toBe(1);
  });

  it.each([
    ["OpenAI's library", "openai:x"],
    ["Google's library", "google:x"],
  ])("%s: a port that nothing may listen on is a server that is not there", async (_, model) => {
    const args = () => ["--model", model, "--base-url", "http://127.0.0.1:1/v1"];
    const { code, words } = await inProcess({ args, env: () => ({}) }, {});
    expect([code, words]).toEqual([
      1,
      expect.stringMatching(/^failed: the model's server cannot be reached \(.*\)\. Is it running\?/),
    ]);
  });

  it("another provider is named with its install line", async () => {
    const cwd = await directoryWith({});
    const result = await runBinary(["run", "Hi", "--model", "bedrock:claude"], { cwd });
    expect(new Set(result.stderr.match(/npm install @\S+\w/g))).toEqual(
      new Set(["npm install @langchain/aws"]),
    );
    expect(result.stderr).not.toContain("Workspace:");
    expect(result.code).toBe(1);
  });

  it("one without its key says which variable is missing", async () => {
    const cwd = await directoryWith({});
    const result = await runBinary(["run", "Hi", "--model", "baseten:zai-org/GLM-5"], { cwd });
    expect(result.stderr).toContain("BASETEN_API_KEY is not set");
    expect(result.code).toBe(1);
  });

  it("a provider without its key says which variable is missing", async () => {
    const cwd = await directoryWith({});
    const result = await runBinary(["run", "Hi", "--model", "openai:gpt-5.4"], { cwd });
    expect(result.stderr).toContain("OPENAI_API_KEY is not set");
    expect(result.code).toBe(1);
  });
});
