import { CliError, type Terminal } from "../terminal.js";
import { exitCode } from "./exit-codes.js";

/** A prompt that is longer is no prompt: a server takes requests of at most 64 MiB. */
const maxPromptBytes = 24 * 1024 * 1024;

/**
 * The prompt: the words of the command line, and what is piped in, which comes after them. Rejects with CliError when there is none, when
 * it is too long, and when it is not UTF-8.
 */
export async function readPrompt(terminal: Terminal, words: readonly string[]): Promise<string> {
  const { stdin } = terminal;
  const given = words.join(" ").trim();
  // With words on the command line, a pipe that nobody writes to must not be waited for: only `-` asks for it.
  const wantsPipe = given === "" || given === "-" || given.endsWith(" -");
  const piped = wantsPipe && stdin && !stdin.isTTY ? await readAll(stdin) : "";
  const said = wantsPipe ? given.replace(/(^| )-$/, "") : given;
  const prompt = [said, piped.trim()].filter((part) => part !== "").join("\n\n");
  if (prompt === "") throw usage('no prompt: keyturn run "what to do", or pipe it in');
  return prompt;
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxPromptBytes) throw usage(`the prompt is longer than ${maxPromptBytes / 1024 / 1024} MiB`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw usage("the prompt on standard input is not UTF-8 text");
  }
}

function usage(message: string): CliError {
  return new CliError(message, { exitCode: exitCode.usage });
}
