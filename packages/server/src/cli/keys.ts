import { ApiKeys } from "../http/api-keys.js";
import { withStoreOrServer } from "./store-or-server.js";
import { CliError, type CommonOptions, print, type Terminal, table } from "./terminal.js";

interface ListedKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
}

/** `keys create`: makes a key and prints it; nobody can print it again. */
export async function createKey(terminal: Terminal, options: CommonOptions, name: string): Promise<void> {
  const made = await withStoreOrServer(terminal, options, {
    store: async (store) => (await ApiKeys.open({ store })).create(name),
    server: async (ask) =>
      (await ask("POST", "/api/v1/keys", { name })) as { keyId: string; name: string; key: string },
  });
  print(terminal, options, made, [made.key]);
}

/** `keys list`: every key with its id, revoked ones too; never the keys themselves. */
export async function listKeys(terminal: Terminal, options: CommonOptions): Promise<void> {
  const all = await withStoreOrServer<readonly ListedKey[]>(terminal, options, {
    store: (store) => store.keys.all(),
    server: async (ask) => ((await ask("GET", "/api/v1/keys")) as { items: ListedKey[] }).items,
  });
  const items = all.map(({ id, name, createdAt, revokedAt }) => ({
    id,
    name,
    createdAt: new Date(createdAt).toISOString(),
    revokedAt: revokedAt === null ? null : new Date(revokedAt).toISOString(),
  }));
  const rows = items.map((key) => [key.id, key.name, key.createdAt, key.revokedAt ?? "-"]);
  print(terminal, options, { items }, table([["ID", "NAME", "CREATED", "REVOKED"], ...rows]));
}

/** `keys revoke`: from now on the key and its access tokens are worth nothing. */
export async function revokeKey(terminal: Terminal, options: CommonOptions, id: string): Promise<void> {
  await withStoreOrServer(terminal, options, {
    store: async (store) => {
      if (!(await (await ApiKeys.open({ store })).revoke(id))) throw new CliError("there is no good key with this id");
    },
    server: async (ask) => void (await ask("POST", `/api/v1/keys/${encodeURIComponent(id)}/revoke`)),
  });
  print(terminal, options, { id, revoked: true }, [`revoked ${id}`]);
}
