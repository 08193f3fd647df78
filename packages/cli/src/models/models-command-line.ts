/** `deepwright models`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

export interface RawModelsOptions {
  readonly json?: boolean;
}

export type ModelsHandler = (options: RawModelsOptions) => Promise<ExitCode>;

export function addModels(program: Command, handler: ModelsHandler): void {
  program
    .command("models")
    .description("list models: those of servers on this machine, and providers with a key")
    .option("--json", "print the result as JSON")
    .action(async (options: RawModelsOptions) => {
      await handler(options);
    })
    .addHelpText("after", `\n${HELP}`);
}

const HELP = `Ollama (port 11434), LM Studio (1234), llama.cpp (8080) and vLLM (8000) are asked at once, for at most 300 ms.
OLLAMA_HOST, LMSTUDIO_BASE_URL, LLAMACPP_BASE_URL and VLLM_BASE_URL name other addresses.

Examples:
  deepwright models
  deepwright run "Explain this project" --model lmstudio:qwen3-8b
  deepwright config set model ollama:qwen3`;
