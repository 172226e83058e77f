import { runCli } from "./program.js";

const code = await runCli(process.argv.slice(2), {
  environment: process.env,
  workingDirectory: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  onSignal: (signal, handler) => process.on(signal, handler),
  exit: (status) => process.exit(status),
});
process.exitCode = code;
// Kept connections to model providers may hold the process a little; nothing is lost with them.
setTimeout(() => process.exit(code), 250).unref();
