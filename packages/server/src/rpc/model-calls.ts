import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  GetAllowedModelIntentsRequestSchema,
  GetAllowedModelIntentsResponseSchema,
  GetDefaultModelForCliRequestSchema,
  GetDefaultModelForCliResponseSchema,
  GetNewChatNudgeLegacyModelPickerRequestSchema,
  GetNewChatNudgeLegacyModelPickerResponseSchema,
  GetNewChatNudgeParameterizedModelPickerRequestSchema,
  GetNewChatNudgeParameterizedModelPickerResponseSchema,
  GetUsableModelsRequestSchema,
  GetUsableModelsResponseSchema,
  type ModelDetailsSchema,
} from "@keyturn/protocol/agent";
import { exactAliases } from "./model-names.js";
import type { ListedModel } from "./ports.js";
import type { Call, RpcServices } from "./services.js";
import { unary } from "./unary.js";

/** The procedures of `agent.v1.AgentService` about models, by name. Credentials are never part of an answer (W34). */
export function modelCalls(services: RpcServices): Record<string, Call> {
  const { models } = services;
  const details = (model: ListedModel): MessageInitShape<typeof ModelDetailsSchema> => ({
    modelId: model.id,
    displayModelId: model.id,
    displayName: model.displayName,
    displayNameShort: model.displayName,
    aliases: exactAliases(model, models),
    ...(model.parameters.length > 0 ? { thinkingDetails: {} } : {}),
  });
  return {
    GetUsableModels: unary(services, GetUsableModelsRequestSchema, GetUsableModelsResponseSchema, () => ({
      models: models.models().map(details),
    })),
    GetDefaultModelForCli: unary(
      services,
      GetDefaultModelForCliRequestSchema,
      GetDefaultModelForCliResponseSchema,
      () => {
        const model = models.resolve("default");
        return model ? { model: details(model) } : {};
      },
    ),
    // No intent is restricted, and nobody is talked into another model.
    GetAllowedModelIntents: unary(
      services,
      GetAllowedModelIntentsRequestSchema,
      GetAllowedModelIntentsResponseSchema,
      () => ({}),
    ),
    GetNewChatNudgeLegacyModelPicker: unary(
      services,
      GetNewChatNudgeLegacyModelPickerRequestSchema,
      GetNewChatNudgeLegacyModelPickerResponseSchema,
      () => ({}),
    ),
    GetNewChatNudgeParameterizedModelPicker: unary(
      services,
      GetNewChatNudgeParameterizedModelPickerRequestSchema,
      GetNewChatNudgeParameterizedModelPickerResponseSchema,
      () => ({}),
    ),
  };
}
