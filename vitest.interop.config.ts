import { defineConfig } from "vitest/config";
import { LongFirst } from "./test/interop/support/long-first.js";

export default defineConfig({
  resolve: { conditions: ["keyturn-source"] },
  ssr: { resolve: { conditions: ["keyturn-source"] } },
  test: {
    include: ["test/interop/**/*.test.ts"],
    globalSetup: "test/interop/support/global-setup.ts",
    testTimeout: 90_000,
    hookTimeout: 60_000,
    // One for the file that waits for minutes, one for all the others in turn.
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
    reporters: ["verbose", "./test/support/plain-summary.ts"],
  },
});
