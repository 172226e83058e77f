import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AvailableModelsResponse_AvailableModelSchema,
  AvailableModelsResponseSchema,
  ModelParameterDefinitionSchema,
} from "@keyturn/protocol/aiserver";
import { exactAliases } from "./model-names.js";
import type { ListedModel, ListedParameter, ModelList } from "./ports.js";

type AvailableModel = MessageInitShape<typeof AvailableModelsResponse_AvailableModelSchema>;

/** The models in the detail that a client's picker shows. */
export function availableModels(list: ModelList): MessageInitShape<typeof AvailableModelsResponseSchema> {
  const models = list.models();
  const first = list.resolve("default") ?? models[0];
  const feature = { defaultModel: first?.id ?? "", fallbackModels: models.map(({ id }) => id) };
  return {
    modelNames: models.map(({ id }) => id),
    models: models.map((model) => availableModel(model, list)),
    composerModelConfig: feature,
    cmdKModelConfig: feature,
    backgroundComposerModelConfig: feature,
    planExecutionModelConfig: feature,
    specModelConfig: feature,
    deepSearchModelConfig: feature,
    quickAgentModelConfig: feature,
    useModelParameters: true,
  };
}

function availableModel(model: ListedModel, list: ModelList): AvailableModel {
  const tooltip = { markdownContent: `**${model.displayName}**${model.description ? `\n\n${model.description}` : ""}` };
  return {
    name: model.id,
    serverModelName: model.id,
    clientDisplayName: model.displayName,
    inputboxShortModelName: model.displayName,
    idAliases: exactAliases(model, list),
    defaultOn: true,
    isUserAdded: true,
    namedModelSectionIndex: 1,
    supportsAgent: true,
    supportsPlanMode: true,
    supportsSandboxing: true,
    supportsImages: model.vision,
    supportsThinking: model.parameters.length > 0,
    supportsNonMaxMode: true,
    supportsMaxMode: false,
    isLongContextOnly: false,
    supportsAutoContext: true,
    contextTokenLimit: model.contextWindow,
    contextTokenLimitForMaxMode: model.contextWindow,
    autoContextMaxTokens: model.contextWindow,
    tooltipData: tooltip,
    tooltipDataForMaxMode: tooltip,
    parameterDefinitions: model.parameters.map(parameterDefinition),
    variants: variantsOf(model).map(({ parameter, value, displayName, isDefault }) => ({
      displayName,
      parameterValues: [{ id: parameter, value }],
      variantStringRepresentation: `${model.id}:${value}`,
      isDefaultNonMaxConfig: isDefault,
      tagline: displayName,
    })),
  };
}

function parameterDefinition(parameter: ListedParameter): MessageInitShape<typeof ModelParameterDefinitionSchema> {
  return {
    id: parameter.id,
    name: parameter.displayName,
    isCycleableByHotkey: true,
    parameterType: { enumParameter: { values: parameter.values.map((value) => ({ ...value })) } },
  };
}

/** A model with one value of its first parameter, as a choice of its own; the default one comes first. */
export interface ModelVariant {
  readonly parameter: string;
  readonly value: string;
  readonly displayName: string;
  readonly isDefault: boolean;
}

/** The variants a picker offers; none for a model without parameters. */
export function variantsOf({ parameters: [parameter] }: ListedModel): ModelVariant[] {
  if (!parameter) return [];
  const variants = parameter.values.map(({ value, displayName }) => ({
    parameter: parameter.id,
    value,
    displayName,
    isDefault: value === parameter.default,
  }));
  return [...variants.filter(({ isDefault }) => isDefault), ...variants.filter(({ isDefault }) => !isDefault)];
}
