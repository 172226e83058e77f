import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { version } from "../version.js";
import { printSchema, validateConfig } from "./config.js";
import { createKey, listKeys, revokeKey } from "./keys.js";
import { listModels } from "./models.js";
import { listRuns } from "./runs.js";
import { serve } from "./serve.js";
import { type CommonOptions, explain, type Terminal } from "./terminal.js";

const exitCodes = `
Exit codes:
  0  done
  1  it could not be done; one line on standard error says why
  2  the command line is wrong`;

/** Runs one command; resolves with the exit code. Never rejects. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  const program = createProgram(terminal);
  try {
    await program.parseAsync([...args], { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    for (const line of explain(error)) terminal.stderr.write(`keyturn: ${line}\n`);
    if (program.opts<{ debug?: boolean }>().debug && error instanceof Error) terminal.stderr.write(`${error.stack}\n`);
    return 1;
  }
}

function createProgram(terminal: Terminal): Command {
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
  return program;
}

function verb(parent: Command, name: string, description: string): Command {
  return parent
    .command(name)
    .description(description)
    .option("--config <file>", "configuration file")
    .option("--data-dir <folder>", "data folder (~/.keyturn)")
    .option("--json", "print JSON");
}

/** A verb that asks the running server, when there is one. */
function remote(command: Command): Command {
  return command.addOption(
    new Option("--api-key <key>", "key for the running server, when it has the data folder (or KEYTURN_API_KEY)"),
  );
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("It must be a number from 0 to 65535.");
  return port;
}

function countOf(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > 10_000) {
    throw new InvalidArgumentError("It must be a number from 1 to 10000.");
  }
  return count;
}
