import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";

/** A stored key as this file needs it; the hash is the lower-case hex SHA-256 of the key. */
export interface StoredKey {
  readonly id: string;
  readonly name: string;
  readonly hash: string;
  readonly revokedAt: number | null;
}

/** Where keys and the token secret are kept: a part of the store. */
export interface ApiKeyStore {
  readonly keys: {
    add(entry: { id: string; name: string; hash: string; createdAt: number }): Promise<void>;
    all(): Promise<readonly StoredKey[]>;
    revoke(id: string, at: number): Promise<boolean>;
  };
  readonly meta: { ensure(name: string, value: Uint8Array): Promise<Uint8Array> };
}

/** Whose request it is: every lookup is made on behalf of a key (I-145). */
export interface KeyIdentity {
  readonly keyId: string;
  readonly name: string;
}

/** A key that has just been made; the only time its text is at hand. */
export interface NewKey extends KeyIdentity {
  readonly key: string;
}

/** The preset key cannot be used; the message says why, without the key. */
export class PresetKeyError extends Error {
  override readonly name = "PresetKeyError";
}

/** What the keys need of the world. Times are in milliseconds since the epoch. */
export interface ApiKeysOptions {
  readonly store: ApiKeyStore;
  readonly now?: () => number;
}

const minPresetLength = 16;
const presetPrefix = "preset-";
/** Another process (the command line) may add and revoke keys; this is how old an answer about them may be. */
const cacheMs = 2_000;

/** API keys and the access tokens they are exchanged for. Only hashes are stored. */
export class ApiKeys {
  readonly #store: ApiKeyStore;
  readonly #now: () => number;
  readonly #tokens: AccessTokens;
  #active: readonly { readonly identity: KeyIdentity; readonly hash: Buffer }[] = [];
  #loadedAt = Number.NEGATIVE_INFINITY;
  #loading: Promise<void> | undefined;

  private constructor(store: ApiKeyStore, now: () => number, tokens: AccessTokens) {
    this.#store = store;
    this.#now = now;
    this.#tokens = tokens;
  }

  /** Loads the keys, and the secret of the access tokens, which is made at the first start. */
  static async open({ store, now = Date.now }: ApiKeysOptions): Promise<ApiKeys> {
    const secret = await store.meta.ensure("access-token-secret", randomBytes(32));
    const keys = new ApiKeys(store, now, createAccessTokens(secret, now));
    await keys.refresh();
    return keys;
  }

  /**
   * Makes sure that there is a key to come in with.
   * A preset becomes a key, in place of an earlier preset. Without one and without any good key a key is made and returned, to be shown once.
   * Rejects with PresetKeyError for a preset that is too short or was revoked.
   */
  async ensureFirstKey(preset?: string): Promise<NewKey | undefined> {
    if (preset !== undefined) {
      await this.#adoptPreset(preset);
      return undefined;
    }
    const stored = await this.#store.keys.all();
    return stored.some(({ revokedAt }) => revokedAt === null) ? undefined : this.create("first key");
  }

  /** Makes a key: `kt_` and 32 random bytes. */
  async create(name: string): Promise<NewKey> {
    const key = `kt_${randomBytes(32).toString("base64url")}`;
    const keyId = `key-${randomBytes(6).toString("hex")}`;
    await this.#store.keys.add({ id: keyId, name, hash: hashOf(key).toString("hex"), createdAt: this.#now() });
    await this.refresh();
    return { keyId, name, key };
  }

  /** Revokes a key, and with it its access tokens, at once. False when there is no such good key. */
  async revoke(keyId: string): Promise<boolean> {
    const revoked = await this.#store.keys.revoke(keyId, this.#now());
    await this.refresh();
    return revoked;
  }

  /** Whose key it is; undefined for a wrong or revoked one. Takes the same time whichever key it is. */
  verify(presented: string): KeyIdentity | undefined {
    this.#refreshWhenOld();
    const hash = hashOf(presented);
    let found: KeyIdentity | undefined;
    for (const { identity, hash: known } of this.#active) {
      if (timingSafeEqual(hash, known)) found = identity;
    }
    return found;
  }

  /** An access token for a key: opaque, good for 24 hours, across restarts, until the key is revoked. */
  issueAccessToken(key: KeyIdentity): string {
    return this.#tokens.issue(key.keyId);
  }

  /** Whose token it is; undefined for a forged or expired one, and for one of a revoked key. */
  verifyToken(token: string): KeyIdentity | undefined {
    this.#refreshWhenOld();
    const keyId = this.#tokens.verify(token);
    return keyId === undefined ? undefined : this.#active.find(({ identity }) => identity.keyId === keyId)?.identity;
  }

  /** Reads the keys anew. */
  async refresh(): Promise<void> {
    const stored = await this.#store.keys.all();
    this.#active = stored
      .filter(({ revokedAt }) => revokedAt === null)
      .map(({ id, name, hash }) => ({ identity: { keyId: id, name }, hash: Buffer.from(hash, "hex") }));
    this.#loadedAt = this.#now();
  }

  async #adoptPreset(preset: string): Promise<void> {
    if (preset.length < minPresetLength || /\s/.test(preset)) {
      throw new PresetKeyError(
        `KEYTURN_API_KEY must have ${minPresetLength} characters or more and no blanks; \`openssl rand -hex 24\` makes a good one`,
      );
    }
    const hash = hashOf(preset).toString("hex");
    const stored = await this.#store.keys.all();
    const same = stored.find((key) => key.hash === hash);
    if (same !== undefined && same.revokedAt !== null) {
      throw new PresetKeyError("KEYTURN_API_KEY is a key that was revoked; choose another");
    }
    for (const { id, revokedAt } of stored) {
      if (id.startsWith(presetPrefix) && id !== same?.id && revokedAt === null)
        await this.#store.keys.revoke(id, this.#now());
    }
    if (same === undefined) {
      const entry = {
        id: `${presetPrefix}${hash.slice(0, 12)}`,
        name: "KEYTURN_API_KEY",
        hash,
        createdAt: this.#now(),
      };
      await this.#store.keys.add(entry);
    }
    await this.refresh();
  }

  /** A verdict never waits for the disk: the old keys are good for it, the new ones for the next. */
  #refreshWhenOld(): void {
    if (this.#now() - this.#loadedAt < cacheMs || this.#loading !== undefined) return;
    this.#loading = this.refresh()
      // The store is closing or cannot be read; whoever writes to it will say so.
      .catch(() => {})
      .finally(() => (this.#loading = undefined));
  }
}

function hashOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}

/** Tokens that name a key until they expire, and that nobody else can make. */
interface AccessTokens {
  /** A token for a key id. */
  issue(keyId: string): string;
  /** The key id of a token of ours that has not expired; undefined for everything else. */
  verify(token: string): string | undefined;
}

const tokenLifetimeMs = 24 * 60 * 60 * 1_000;
const tokenForm = /^kta_([\w-]{1,400})\.([\w-]{43})$/;

/** Tokens signed with the secret (HMAC-SHA256); `now` is in milliseconds since the epoch. */
function createAccessTokens(secret: Uint8Array, now: () => number): AccessTokens {
  const sign = (claims: string) => createHmac("sha256", secret).update(`keyturn-access-token.${claims}`).digest();
  return {
    issue: (keyId) => {
      const claims = Buffer.from(`${now() + tokenLifetimeMs}.${keyId}`).toString("base64url");
      return `kta_${claims}.${sign(claims).toString("base64url")}`;
    },
    verify: (token) => {
      const [, claims, signature] = tokenForm.exec(token) ?? [];
      if (claims === undefined || signature === undefined) return undefined;
      if (!timingSafeEqual(sign(claims), Buffer.from(signature, "base64url"))) return undefined;
      const [, expiresAt, keyId] = /^(\d+)\.(.+)$/s.exec(Buffer.from(claims, "base64url").toString()) ?? [];
      return Number(expiresAt) > now() ? keyId : undefined;
    },
  };
}
