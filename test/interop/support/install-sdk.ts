import { spawn } from "node:child_process";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The SDK as a scenario uses it: a program beside it that loads both it and the driver, and a Node to run that with. */
export interface InstalledSdk {
  readonly version: string;
  /** The program's file; it takes the URL of the driver from `KEYTURN_INTEROP_DRIVER`. */
  readonly program: string;
  /** The Node binary its process runs on. */
  readonly node: string;
}

/** The registry could not be reached, which is no fault of ours: the scenarios are skipped. */
export class RegistryUnreachable extends Error {
  override readonly name = "RegistryUnreachable";
}

const sdkName = "@cursor/sdk";
const defaultVersion = "1.0.18";
const unreachable =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|E40[37]|E5\d\d)\b/;

/**
 * Installs the unmodified SDK from the npm registry into a folder outside the repository, once a version and Node, and keeps
 * it between runs. `KEYTURN_INTEROP_DIR`, `KEYTURN_INTEROP_SDK` and `KEYTURN_INTEROP_NODE` set the folder, the version and the
 * Node binary. Throws RegistryUnreachable when there is no way to the registry.
 */
export async function installSdk(environment: Readonly<NodeJS.ProcessEnv>): Promise<InstalledSdk> {
  const version = environment["KEYTURN_INTEROP_SDK"] || defaultVersion;
  const node = environment["KEYTURN_INTEROP_NODE"] || process.execPath;
  const root = environment["KEYTURN_INTEROP_DIR"] || join(tmpdir(), "keyturn-interop");
  const nodeVersion = (await run(node, ["--version"], process.cwd())).output.trim();
  const folder = join(root, `sdk-${version}-node-${nodeVersion.replace(/^v/, "").split(".")[0]}`);
  const installed = { version, program: join(folder, "program.mjs"), node };
  if (await isUpToDate(installed.program)) return installed;

  await requireRegistry(version);
  console.error(
    `interop: installing ${sdkName} ${version} into ${folder}; the first time takes minutes (it compiles) ...`,
  );
  const draft = `${folder}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await writeFile(join(draft, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const install = ["install", `${sdkName}@${version}`, "--save-exact", "--no-audit", "--no-fund", "--loglevel=error"];
  // The chosen Node first, so that native parts are built for it.
  const done = await run("npm", install, draft, dirname(node));
  if (done.exitCode !== 0) throw new Error(`Installing ${sdkName} ${version} failed:\n${done.output}`);
  await writeFile(join(draft, "program.mjs"), programText);
  await rm(folder, { recursive: true, force: true });
  await rename(draft, folder);
  return installed;
}

/** The SDK finds its own binaries from where the program lies, so the program lies beside it. */
const programText = `import * as sdk from "${sdkName}";

const { drive } = await import(process.env.KEYTURN_INTEROP_DRIVER);
await drive(sdk);
`;

async function isUpToDate(program: string): Promise<boolean> {
  return readFile(program, "utf8").then(
    (text) => text === programText,
    () => false,
  );
}

async function requireRegistry(version: string): Promise<void> {
  const view = ["view", `${sdkName}@${version}`, "version", "--fetch-retries=1", "--fetch-timeout=20000"];
  const { exitCode, output } = await run("npm", view, tmpdir());
  if (exitCode === 0) return;
  if (unreachable.test(output)) throw new RegistryUnreachable(output.trim().split("\n")[0]);
  throw new Error(`npm does not know ${sdkName} ${version}:\n${output}`);
}

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  firstOnPath?: string,
): Promise<{ exitCode: number | null; output: string }> {
  const PATH = firstOnPath ? `${firstOnPath}:${process.env["PATH"]}` : process.env["PATH"];
  const child = spawn(command, args, { cwd, env: { ...process.env, PATH }, stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", resolve);
  });
  return { exitCode, output: Buffer.concat(chunks).toString("utf8") };
}
