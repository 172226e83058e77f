import type { TestProject } from "vitest/node";
import { type InstalledSdk, installSdk, RegistryUnreachable } from "./install-sdk.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The SDK, or why there is none. */
    readonly interopSdk: InstalledSdk | { readonly unavailable: string };
  }
}

/** Installs the SDK before the first scenario; says loudly when that is not possible. */
export default async function setup(project: TestProject): Promise<void> {
  try {
    const sdk = await installSdk(process.env);
    console.error(`interop: SDK ${sdk.version} on ${sdk.node}`);
    project.provide("interopSdk", sdk);
  } catch (error) {
    if (!(error instanceof RegistryUnreachable)) throw error;
    const unavailable = `the npm registry cannot be reached (${error.message})`;
    console.error(`\n  INTEROP SKIPPED: ${unavailable}.\n  Nothing was shown about compatibility with the SDK.\n`);
    project.provide("interopSdk", { unavailable });
  }
}
