import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["keyturn-source"] },
  ssr: { resolve: { conditions: ["keyturn-source"] } },
  test: {
    reporters: ["default", "./test/support/plain-summary.ts"],
    include: ["packages/*/src/**/*.test.ts", "test/{contract,property,e2e,crash}/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
