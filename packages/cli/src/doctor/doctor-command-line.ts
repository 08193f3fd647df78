/** `deepwright doctor` and `update`: names and help. Nothing heavy is loaded here. */
import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

export interface RawDoctorOptions {
  readonly json?: boolean;
  readonly in?: string;
}

export type DoctorHandler = (action: "doctor" | "update", options: RawDoctorOptions) => Promise<ExitCode>;

export function addDoctor(program: Command, handler: DoctorHandler): void {
  program
    .command("doctor")
    .description("check what deepwright needs: each problem with its remedy")
    .option("--in <dir>", "the directory of the project (default: the current one)")
    .option("--json", "print the result as JSON")
    .action(async (options: RawDoctorOptions) => {
      await handler("doctor", options);
    })
    .addHelpText(
      "after",
      "\nIt looks at Node, the terminal, settings, keys, models, the sandbox, the database, disk space and MCP servers,\nand ends with 1 where something does not work. It changes nothing.",
    );
  program
    .command("update")
    .description("show how deepwright was installed, and the command that updates it")
    .option("--json", "print the result as JSON")
    .action(async (options: RawDoctorOptions) => {
      await handler("update", options);
    });
}
