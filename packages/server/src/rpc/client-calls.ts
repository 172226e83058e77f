import { Code, ConnectError } from "@connectrpc/connect";
import {
  AvailableModelsRequestSchema,
  AvailableModelsResponseSchema,
  GetDefaultModelRequestSchema,
  GetDefaultModelResponseSchema,
  GetServerConfigRequestSchema,
  GetServerConfigResponseSchema,
  GetUserPrivacyModeRequestSchema,
  GetUserPrivacyModeResponseSchema,
  Http2Config,
  PrivacyMode,
  ServerTimeRequestSchema,
  ServerTimeResponseSchema,
} from "@keyturn/protocol/aiserver";
import { bidiAppend } from "./append.js";
import { availableModels } from "./available-models.js";
import { UnsupportedMediaType } from "./content-type.js";
import type { Call, RpcServices } from "./services.js";
import { unary } from "./unary.js";

/** The procedures of `aiserver.v1` that have an answer of their own, by service and name. */
export function clientCalls(services: RpcServices): Record<string, Call> {
  const http2 = services.preferHttp2 ? Http2Config.FORCE_ALL_ENABLED : Http2Config.FORCE_ALL_DISABLED;
  const serverConfig = unary(services, GetServerConfigRequestSchema, GetServerConfigResponseSchema, () => ({
    configVersion: services.version,
    http2Config: http2,
  }));
  return {
    "BidiService/BidiAppend": bidiAppend(services),
    "ServerConfigService/GetServerConfig": serverConfig,
    "AiService/GetServerConfig": serverConfig,
    "AiService/AvailableModels": unary(services, AvailableModelsRequestSchema, AvailableModelsResponseSchema, () =>
      availableModels(services.models),
    ),
    "AiService/GetDefaultModel": unary(services, GetDefaultModelRequestSchema, GetDefaultModelResponseSchema, () => {
      const model = services.models.resolve("default")?.id ?? "";
      return { model, thinkingModel: model };
    }),
    "AiService/ServerTime": unary(services, ServerTimeRequestSchema, ServerTimeResponseSchema, () => {
      const now = Date.now();
      return { receiveTimestamp: now, transmitTimestamp: now };
    }),
    "DashboardService/GetUserPrivacyMode": unary(
      services,
      GetUserPrivacyModeRequestSchema,
      GetUserPrivacyModeResponseSchema,
      () => ({ privacyMode: PrivacyMode.NO_STORAGE }),
    ),
  };
}

/**
 * Any other unary procedure of `aiserver.v1`: an empty message (T9). A client takes a 404 there for a broken server, one
 * even ends its process (P1). The body is not read: telemetry is accepted and dropped.
 */
export function emptyAnswer(services: RpcServices, procedure: string): Call {
  return async (exchange) => {
    const type = exchange.contentType;
    if (type.startsWith("application/connect+")) {
      throw new ConnectError(`${procedure} is not served here`, Code.Unimplemented);
    }
    if (type !== "application/proto" && type !== "application/json") {
      throw new UnsupportedMediaType(["application/proto", "application/json"]);
    }
    services.reports.unknownCall(procedure);
    exchange.send(200, { "content-type": type }, type === "application/json" ? "{}" : "");
  };
}
