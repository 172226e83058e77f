import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { version } from "../version.js";
import { chat } from "./agent/chat.js";
import { agentExitCodes } from "./agent/exit-codes.js";
import { modes } from "./agent/modes.js";
import { run } from "./agent/run.js";
import type { WorkplaceOptions } from "./agent/workplace.js";
import { printSchema, validateConfig } from "./config.js";
import { type DoctorOptions, doctor } from "./doctor/doctor.js";
import { createKey, listKeys, revokeKey } from "./keys.js";
import { listModels } from "./models.js";
import { exportRunFile, replayRunFile } from "./replay.js";
import { cancelRun, listRuns, showRun } from "./runs.js";
import { serve } from "./serve.js";
import { tailRun } from "./tail-run.js";
import { CliError, type CommonOptions, explain, type Terminal } from "./terminal.js";

const exitCodes = `
Exit codes:
  0  done
  1  it could not be done; one line on standard error says why
  2  the command line is wrong`;

/** Runs one command; resolves with the exit code. Never rejects. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  let code = 0;
  const program = createProgram(terminal, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...args], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    for (const line of explain(error)) terminal.stderr.write(`keyturn: ${line}\n`);
    if (program.opts<{ debug?: boolean }>().debug && error instanceof Error) terminal.stderr.write(`${error.stack}\n`);
    return error instanceof CliError ? error.exitCode : 1;
  }
}

function createProgram(terminal: Terminal, ended: (code: number) => void): Command {
  const program = new Command("keyturn")
    .description("An open agent server: agent.v1 on your own model keys.")
    .version(version)
    .option("--debug", "show where an error comes from")
    .addHelpText("after", exitCodes)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.stdout.write(text),
      writeErr: (text) => terminal.stderr.write(text),
    });

  verb(program, "serve", "start the server")
    .option("--port <port>", "port to listen on; 0 takes a free one", portOf)
    .option("--host <host>", "address to listen on")
    .action((options: CommonOptions) => serve(terminal, options));

  remote(verb(program, "doctor", "look for problems, change nothing"))
    .option("--url <address>", "address that clients use, such as a proxy's; measures a stream through it", urlOf)
    .action((options: DoctorOptions) => doctor(terminal, options));

  agentVerb(program, "run", "let an agent work in this folder for one turn")
    .argument("[prompt...]", "what to do; without it, or as -, standard input")
    .option("--json", "print one event a line, as JSON")
    .action(async (words: string[], options: WorkplaceOptions) => ended(await run(terminal, words, options)));
  agentVerb(program, "chat", "talk with an agent that works in this folder").action(async (options: WorkplaceOptions) =>
    ended(await chat(terminal, options)),
  );

  const keys = program.command("keys").description("API keys that clients come in with");
  remote(verb(keys, "create", "make a key and show it once"))
    .argument("[name]", "what to call it", "key")
    .action((name: string, options: CommonOptions) => createKey(terminal, options, name));
  remote(verb(keys, "list", "list the keys")).action((options: CommonOptions) => listKeys(terminal, options));
  remote(verb(keys, "revoke", "make a key worthless at once"))
    .argument("<id>", "its id, from keys list")
    .action((id: string, options: CommonOptions) => revokeKey(terminal, options, id));

  const models = program.command("models").description("models that clients can use");
  verb(models, "list", "list the configured models").action((options: CommonOptions) => listModels(terminal, options));

  const config = program.command("config").description("the configuration");
  verb(config, "validate", "check the configuration").action((options: CommonOptions) =>
    validateConfig(terminal, options),
  );
  config
    .command("schema")
    .description("print the JSON schema of the configuration file")
    .action(() => printSchema(terminal));

  const runs = program.command("runs").description("runs of agents");
  remote(verb(runs, "list", "list the newest runs"))
    .option("--limit <count>", "how many", countOf, 50)
    .action((options: CommonOptions & { limit: number }) => listRuns(terminal, options));
  remote(verb(runs, "show", "where a run stands"))
    .argument(...runArgument)
    .action((id: string, options: CommonOptions) => showRun(terminal, options, id));
  verb(runs, "tail", "follow what a run publishes, one line a frame")
    .argument(...runArgument)
    .option("--after <position>", "begin after this position", positionOf, 0)
    .action((id: string, options: CommonOptions & { after: number }) => tailRun(terminal, options, id));
  remote(verb(runs, "cancel", "end a live run"))
    .argument(...runArgument)
    .action((id: string, options: CommonOptions) => cancelRun(terminal, options, id));
  verb(runs, "export", "write a run as one file, secrets taken out")
    .argument(...runArgument)
    .option("--out <file>", "where to; standard output by default")
    .action((id: string, options: CommonOptions & { out?: string }) => exportRunFile(terminal, options, id));
  verb(runs, "replay", "decide an exported run again and compare every frame")
    .argument("<file>", "what runs export wrote")
    .action((file: string, options: CommonOptions) => replayRunFile(terminal, options, file));
  return program;
}

const runArgument = ["<id>", "its request id; with # and a number, an earlier run of that id"] as const;

function verb(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option("--config <file>", "configuration file")
    .option("--data-dir <folder>", "data folder (~/.keyturn)")
    .option("--json", "print JSON");
}

/** A verb that lets an agent work in the current folder. */
function agentVerb(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option("--server <url>", "server to use (or KEYTURN_SERVER); else the one that runs here, else a private one")
    .option("--api-key <key>", "its key (or KEYTURN_API_KEY)")
    .option("--model <id>", "model to use")
    .addOption(new Option("--mode <mode>", "way of working").choices(Object.keys(modes)))
    .option("--yes", "allow what would be asked; what a rule denies stays denied")
    .option("--project-settings", "use rules, hooks, subagents and MCP servers of this folder; only where you trust it")
    .option("--continue", "go on with the newest conversation of this folder")
    .addOption(new Option("--conversation <id>", "go on with this conversation").conflicts("continue"))
    .option("--config <file>", "configuration file")
    .option("--data-dir <folder>", "data folder (~/.keyturn)")
    .addHelpText("after", agentExitCodes);
}

/** A verb that asks the running server, when there is one. */
function remote(command: Command): Command {
  return command.addOption(
    new Option("--api-key <key>", "key for the running server, when it has the data folder (or KEYTURN_API_KEY)"),
  );
}

function urlOf(text: string): string {
  if (!URL.canParse(text) || !/^https?:/.test(text))
    throw new InvalidArgumentError("It must be an http or https address.");
  return text;
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("It must be a number from 0 to 65535.");
  return port;
}

function positionOf(text: string): number {
  const position = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(position)) {
    throw new InvalidArgumentError("It must be a whole number of 0 or more.");
  }
  return position;
}

function countOf(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > 10_000) {
    throw new InvalidArgumentError("It must be a number from 1 to 10000.");
  }
  return count;
}
