import { runCli } from "./program.js";

// Whoever read the output is gone (a closed terminal, `| head`): the same as a hang-up, not a crash.
for (const stream of [process.stdout, process.stderr]) stream.on("error", () => process.emit("SIGHUP", "SIGHUP"));

const code = await runCli(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: (signal, handler) => process.on(signal, handler),
  exit: (status) => process.exit(status),
});
process.exitCode = code;
// Kept connections to model providers may hold the process a little; nothing is lost with them.
setTimeout(() => process.exit(code), 250).unref();
