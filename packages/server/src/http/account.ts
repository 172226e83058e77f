import { variantsOf } from "../rpc/available-models.js";
import { exactAliases } from "../rpc/model-names.js";
import type { ListedModel, ModelList } from "../rpc/ports.js";
import type { KeyStore } from "../store/port.js";
import type { KeyIdentity } from "./api-keys.js";
import { errorBody, type Routes } from "./routes.js";

/** What the account endpoints need. */
export interface AccountServices {
  readonly models: ModelList;
  readonly keys: Pick<KeyStore, "all">;
  /** Whose API key it is; an access token is none. */
  verify(apiKey: string): KeyIdentity | undefined;
  issueAccessToken(key: KeyIdentity): string;
}

/** What a client asks before its first run: a token for its key, the models, who it is (T9). */
export function accountRoutes(services: AccountServices): Routes {
  return {
    // Asked before nearly every call: it costs one hash and knows no rate limit (P21).
    "POST /auth/exchange_user_api_key": (exchange) => {
      const bearer = exchange.header("authorization")?.replace(/^Bearer +/i, "") ?? "";
      const key = services.verify(bearer);
      if (!key) {
        return exchange.sendJson(
          401,
          errorBody("request/unauthenticated", "Only an API key can be exchanged for an access token."),
        );
      }
      exchange.sendJson(200, { accessToken: services.issueAccessToken(key) }, { "cache-control": "no-store" });
    },
    "GET /v1/models": (exchange) => {
      exchange.sendJson(200, { items: services.models.models().map((model) => listedModel(model, services.models)) });
    },
    "GET /v1/me": async (exchange, { caller }) => {
      const stored = (await services.keys.all()).find(({ id }) => id === caller?.keyId);
      exchange.sendJson(200, { apiKeyName: caller?.name, createdAt: new Date(stored?.createdAt ?? 0).toISOString() });
    },
    "GET /v1/repositories": (exchange) => exchange.sendJson(200, { items: [] }),
  };
}

function listedModel(model: ListedModel, models: ModelList): object {
  return {
    id: model.id,
    displayName: model.displayName,
    description: model.description,
    aliases: exactAliases(model, models),
    parameters: model.parameters.map(({ id, displayName, values }) => ({ id, displayName, values })),
    variants: variantsOf(model).map(({ parameter, value, displayName, isDefault }) => ({
      params: [{ id: parameter, value }],
      displayName,
      isDefault,
    })),
  };
}
