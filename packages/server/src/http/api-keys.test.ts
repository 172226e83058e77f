import { describe, expect, it } from "vitest";
import { type ApiKeyStore, ApiKeys, PresetKeyError } from "./api-keys.js";

type Row = Parameters<ApiKeyStore["keys"]["add"]>[0] & { revokedAt: number | null };

function fakeStore(): ApiKeyStore & { rows: Row[] } {
  const rows: Row[] = [];
  const facts = new Map<string, Uint8Array>();
  return {
    rows,
    keys: {
      add: async (entry) => void rows.push({ ...entry, revokedAt: null }),
      all: async () => rows,
      revoke: async (id, at) => {
        const row = rows.find((candidate) => candidate.id === id && candidate.revokedAt === null);
        if (row !== undefined) row.revokedAt = at;
        return row !== undefined;
      },
    },
    meta: {
      ensure: async (name, value) => {
        if (!facts.has(name)) facts.set(name, value);
        return facts.get(name) as Uint8Array;
      },
    },
  };
}

function clock(now = 1_000_000) {
  return Object.assign(() => now, { advance: (byMs: number) => (now += byMs) });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("ApiKeys", () => {
  it("makes the first key once and stores its hash only", async () => {
    const store = fakeStore();
    const keys = await ApiKeys.open({ store });
    const first = await keys.ensureFirstKey();
    expect(first?.key).toMatch(/^kt_[A-Za-z0-9_-]{43}$/);
    expect(JSON.stringify(store.rows)).not.toContain(first?.key);
    expect(await keys.ensureFirstKey()).toBeUndefined();
    const identity = { keyId: first?.keyId, name: "first key" };
    expect(keys.verify(first?.key as string)).toEqual(identity);
    for (const wrong of ["", "kt_", `${first?.key}x`, first?.keyId as string])
      expect(keys.verify(wrong)).toBeUndefined();
    const restarted = await ApiKeys.open({ store });
    expect(restarted.verify(first?.key as string)).toEqual(identity);
  });

  it("takes a preset, replaces it by another, and refuses poor ones", async () => {
    const store = fakeStore();
    const keys = await ApiKeys.open({ store });
    const [one, two] = ["preset-number-one", "preset-number-two"];
    expect(await keys.ensureFirstKey(one)).toBeUndefined();
    await keys.ensureFirstKey(one);
    expect(store.rows).toHaveLength(1);
    expect(keys.verify(one)?.name).toBe("KEYTURN_API_KEY");
    await keys.ensureFirstKey(two);
    expect([keys.verify(one), keys.verify(two)?.name]).toEqual([undefined, "KEYTURN_API_KEY"]);
    await expect(keys.ensureFirstKey(one)).rejects.toThrow("is a key that was revoked");
    const short = keys.ensureFirstKey("short");
    await expect(short).rejects.toBeInstanceOf(PresetKeyError);
    await expect(short).rejects.toThrow("KEYTURN_API_KEY must have 16 characters or more");
  });

  it("exchanges a key for a token that survives a restart and expires", async () => {
    const store = fakeStore();
    const now = clock();
    const keys = await ApiKeys.open({ store, now });
    const { key, ...identity } = await keys.create("mine");
    const token = keys.issueAccessToken(identity);
    expect(token).not.toContain(key);
    expect(keys.verify(token)).toBeUndefined();
    const restarted = await ApiKeys.open({ store, now });
    expect(restarted.verifyToken(token)).toEqual(identity);
    now.advance(24 * 60 * 60 * 1_000 - 1);
    expect(restarted.verifyToken(token)).toEqual(identity);
    now.advance(1);
    expect(restarted.verifyToken(token)).toBeUndefined();
  });

  it("refuses forged tokens", async () => {
    const keys = await ApiKeys.open({ store: fakeStore() });
    const identity = await keys.create("mine");
    const token = keys.issueAccessToken(identity);
    const foreign = (await ApiKeys.open({ store: fakeStore() })).issueAccessToken(identity);
    const [claims, signature] = token.slice(4).split(".") as [string, string];
    const later = Buffer.from(`9999999999999.${identity.keyId}`).toString("base64url");
    const forged = [
      foreign,
      `kta_${later}.${signature}`,
      `kta_${claims}.`,
      `kta_${claims}`,
      "",
      identity.key,
      `${token}A`,
    ];
    for (const attempt of forged) expect(keys.verifyToken(attempt)).toBeUndefined();
    expect(keys.verifyToken(token)).toEqual({ keyId: identity.keyId, name: "mine" });
  });

  it("stops a revoked key and its tokens at once", async () => {
    const keys = await ApiKeys.open({ store: fakeStore() });
    const { key, ...identity } = await keys.create("mine");
    const other = await keys.create("other");
    const token = keys.issueAccessToken(identity);
    expect(await keys.revoke(identity.keyId)).toBe(true);
    expect([keys.verify(key), keys.verifyToken(token)]).toEqual([undefined, undefined]);
    expect(keys.verify(other.key)?.name).toBe("other");
    expect(await keys.revoke(identity.keyId)).toBe(false);
  });

  it("learns of keys that another process added or revoked", async () => {
    const store = fakeStore();
    const now = clock();
    const [server, commandLine] = [await ApiKeys.open({ store, now }), await ApiKeys.open({ store, now })];
    const { key, keyId } = await commandLine.create("from outside");
    expect(server.verify(key)).toBeUndefined();
    now.advance(2_000);
    server.verify(key);
    await settled();
    expect(server.verify(key)?.keyId).toBe(keyId);
    await commandLine.revoke(keyId);
    now.advance(2_000);
    server.verify(key);
    await settled();
    expect(server.verify(key)).toBeUndefined();
  });
});
