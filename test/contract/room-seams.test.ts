import { expect, expectTypeOf, it } from "vitest";
import { loadConfig } from "../../packages/server/src/config/load.js";
import type { ServerConfig } from "../../packages/server/src/config/server-config.js";
import type { RunLog } from "../../packages/server/src/engine/ports.js";
import type { ApiKeyStore } from "../../packages/server/src/http/api-keys.js";
import type { ModelsConfig } from "../../packages/server/src/models/port.js";
import { defaultLimits } from "../../packages/server/src/run/limits.js";
import type { Store } from "../../packages/server/src/store/port.js";

// Rooms that must not import each other have shapes of their own for the same thing; here they are held together.

it("hands the configured models to the models room, the store to the engine and to http", () => {
  expectTypeOf<ServerConfig["models"]>().toExtend<ModelsConfig>();
  expectTypeOf<ModelsConfig["providers"][number]>().toExtend<ServerConfig["models"]["providers"][number]>();
  expectTypeOf<ModelsConfig["models"][number]>().toExtend<ServerConfig["models"]["models"][number]>();
  expectTypeOf<Store["log"]>().toExtend<RunLog>();
  expectTypeOf<Store>().toExtend<ApiKeyStore>();
});

it("has the core's limits as defaults of the configuration", async () => {
  const { limits } = await loadConfig({
    environment: { HOME: "/nonexistent" },
    workingDirectory: "/nonexistent",
    defaultModels: () => [],
  });
  expect(limits).toMatchObject(defaultLimits);
});
