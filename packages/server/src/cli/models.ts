import { createModelGateway } from "../models/gateway.js";
import { type CommonOptions, configOf, print, type Terminal, table } from "./terminal.js";

/** `models list`: the models a server with this configuration offers, the default one marked. */
export async function listModels(terminal: Terminal, options: CommonOptions): Promise<void> {
  const config = await configOf(terminal, options);
  const gateway = createModelGateway(config.models);
  const defaultId = gateway.resolve("default")?.id;
  const items = gateway.models().map((model) => ({ ...model, isDefault: model.id === defaultId }));
  const rows = items.map(({ id, isDefault, provider, contextWindow, aliases }) => [
    isDefault ? `${id} (default)` : id,
    provider,
    String(contextWindow),
    aliases.join(", ") || "-",
  ]);
  print(terminal, options, { items }, table([["ID", "PROVIDER", "CONTEXT", "ALIASES"], ...rows]));
}
