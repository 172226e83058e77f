import { expect, inject, test } from "vitest";
import type { SdkProcess } from "./sdk-process.js";
import { type Transport, transports, World, type WorldOptions } from "./world.js";

/** What a scenario starts from. Scripts with a state are made anew for each transport. */
export interface Setup extends Omit<WorldOptions, "sdk" | "transport" | "script"> {
  readonly script?: () => WorldOptions["script"];
  readonly transports?: readonly Transport[];
  readonly timeoutMs?: number;
  /** Beside the other concurrent scenarios of the file. */
  readonly concurrent?: boolean;
  /** Why it is expected to fail for now; it turns red once it passes. */
  readonly knownGap?: string;
}

/**
 * A test of the unmodified SDK against a real server, once over HTTP/1.1 and once over h2c. Whatever the scenario is about, it
 * also fails when the SDK's process had an unhandled rejection, died, spoke to anything but the loopback, or took another
 * transport than the one that was meant.
 */
export function scenario(title: string, setup: Setup, body: (world: World, sdk: SdkProcess) => Promise<void>): void {
  const { knownGap, concurrent = false, timeoutMs: timeout = 90_000 } = setup;
  const name = knownGap ? `${title} (known gap: ${knownGap})` : title;
  for (const transport of setup.transports ?? transports) {
    test(`${name} [${transport}]`, { timeout, concurrent, fails: knownGap !== undefined }, async (context) => {
      const sdk = inject("interopSdk");
      if ("unavailable" in sdk) {
        context.skip(sdk.unavailable);
        return;
      }
      const world = await World.open({ ...setup, sdk, transport, script: setup.script?.() });
      context.onTestFailed(() => console.error(diagnosis(world)));
      try {
        const first = await world.startSdk();
        await body(world, first);
        const ranOverHttp2 = first.of("http2-session").length > 0;
        if (first.of("message").length > 0) expect(ranOverHttp2).toBe(transport === "h2c");
      } finally {
        await world.close();
      }
      expect(world.faults()).toEqual([]);
    });
  }
}

/** Prints a measured number into the report. */
export function report(world: World, what: string, milliseconds: number): void {
  console.info(`measured [${world.transport}]: ${what}: ${Math.round(milliseconds)} ms`);
}

function diagnosis(world: World): string {
  return `The server said:\n${world.server.log().slice(-6_000)}\nThe SDK's process said:\n${world.faults().join("\n")}`;
}
