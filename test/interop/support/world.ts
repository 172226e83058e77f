import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { VendorScript, VendorType } from "../../support/vendors/script.js";
import { startVendor, type Vendor } from "../../support/vendors/start-vendor.js";
import type { InstalledSdk } from "./install-sdk.js";
import { type KeyturnProcess, startKeyturn } from "./keyturn-process.js";
import type { SdkAgentOptions } from "./sdk-events.js";
import { SdkProcess } from "./sdk-process.js";

const exec = promisify(execFile);

/** The ways an SDK reaches the server over plain HTTP. */
export const transports = ["HTTP/1.1", "h2c"] as const;
export type Transport = (typeof transports)[number];

/** The model of every scenario with a scripted vendor. */
export const modelId = "scripted";

/** What a scenario needs before it starts. */
export interface WorldOptions {
  readonly sdk: InstalledSdk;
  readonly transport: Transport;
  /** No vendor and no model are configured without a script. */
  readonly script?: VendorScript;
  /** Default: openai-compatible. */
  readonly vendorType?: VendorType;
  /** Files of the workspace, by their paths in it. */
  readonly files?: Readonly<Record<string, string>>;
  /** Make the workspace a git repository with these files committed. */
  readonly git?: boolean;
}

/** A vendor, a server process, an SDK process and a workspace, alone on the loopback. */
export class World {
  readonly #sdkOptions: Parameters<typeof SdkProcess.start>[0];
  readonly #processes: SdkProcess[] = [];

  private constructor(
    readonly scratch: string,
    readonly workspace: string,
    readonly server: KeyturnProcess,
    readonly transport: Transport,
    private readonly optionalVendor: Vendor | undefined,
    sdk: InstalledSdk,
  ) {
    const { url, apiKey } = server;
    const useHttp1 = transport === "HTTP/1.1";
    this.#sdkOptions = { sdk, url, apiKey, home: join(scratch, "home"), storeDir: join(scratch, "store"), useHttp1 };
  }

  static async open(options: WorldOptions): Promise<World> {
    const { transport, script, vendorType = "openai-compatible" } = options;
    const scratch = await mkdtemp(join(tmpdir(), "keyturn-interop-"));
    const workspace = join(scratch, "workspace");
    await mkdir(join(scratch, "home"));
    for (const [path, text] of Object.entries({ ".keep": "", ...options.files })) {
      await mkdir(dirname(join(workspace, path)), { recursive: true });
      await writeFile(join(workspace, path), text);
    }
    if (options.git) await commitAll(workspace);
    const vendor = script && (await startVendor(vendorType, script));
    const provider = { type: vendorType, baseURL: vendor?.baseURL, apiKey: "vendor-key" };
    const config = {
      server: { port: 0, http2: transport === "h2c" },
      ...(vendor ? { providers: { scripted: provider }, models: [{ id: modelId, provider: "scripted" }] } : {}),
    };
    try {
      const server = await startKeyturn({ dataDir: join(scratch, "data"), config });
      return new World(scratch, workspace, server, transport, vendor, options.sdk);
    } catch (error) {
      await vendor?.close();
      await rm(scratch, { recursive: true, force: true });
      throw error;
    }
  }

  get vendor(): Vendor {
    if (!this.optionalVendor) throw new Error("This scenario has no vendor");
    return this.optionalVendor;
  }

  /** Starts another process with the SDK in it; they share the store. */
  async startSdk(): Promise<SdkProcess> {
    const sdk = await SdkProcess.start(this.#sdkOptions);
    this.#processes.push(sdk);
    return sdk;
  }

  /** Options of an agent that works in the workspace with the scripted model. */
  agentOptions(more: Partial<SdkAgentOptions> = {}): SdkAgentOptions {
    return { model: { id: modelId }, cwd: this.workspace, ...more };
  }

  /** The text of a file of the workspace. */
  read(path: string): Promise<string> {
    return readFile(join(this.workspace, path), "utf8");
  }

  /** The rows of the SDK's own record of its runs, newest state of each. */
  async storedRuns(): Promise<{ id?: string; status?: string; error?: unknown }[]> {
    const text = await readFile(join(this.#sdkOptions.storeDir, "runs.ndjson"), "utf8");
    return text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as { id?: string; status?: string; error?: unknown });
  }

  /** What went wrong behind the callers' backs, over all processes so far. */
  faults(): string[] {
    return this.#processes.flatMap((sdk) => sdk.faults());
  }

  /** Ends what was started, clients first, and removes every trace. */
  async close(): Promise<void> {
    for (const sdk of this.#processes) await sdk.close();
    await this.server.close();
    await this.optionalVendor?.close();
    await rm(this.scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function commitAll(folder: string): Promise<void> {
  const identity = ["-c", "user.name=Interop", "-c", "user.email=interop@example.invalid"];
  const git = (...args: string[]) => exec("git", [...identity, "-C", folder, ...args]);
  await git("init", "--quiet", "--initial-branch=main");
  await git("add", "--all");
  await git("commit", "--quiet", "--message=start");
}
