import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["keyturn-source"] },
  ssr: { resolve: { conditions: ["keyturn-source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/{contract,property,e2e,crash}/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
  },
});
