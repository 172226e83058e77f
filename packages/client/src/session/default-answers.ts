import type { MessageInitShape } from "@bufbuild/protobuf";
import type { InteractionQuery, InteractionResponseSchema } from "@keyturn/protocol/agent";

/** The answer to a question, as a plain literal. */
export type QueryAnswer = NonNullable<MessageInitShape<typeof InteractionResponseSchema>["result"]>;

/**
 * What is answered where no person is: what only asks for leave is granted (what is done then happens on the server), what
 * needs a person is declined with words for the model. Undefined for a question this client does not know.
 */
export function answerWithoutPerson({ query }: InteractionQuery): QueryAnswer | undefined {
  const reason = "Nobody is there to answer: this run is not interactive.";
  switch (query.case) {
    case "webSearchRequestQuery":
      return { case: "webSearchRequestResponse", value: { result: { case: "approved", value: {} } } };
    case "webFetchRequestQuery":
      return { case: "webFetchRequestResponse", value: { result: { case: "approved", value: {} } } };
    case "switchModeRequestQuery":
      return { case: "switchModeRequestResponse", value: { result: { case: "approved", value: {} } } };
    case "generateImageRequestQuery":
      return { case: "generateImageRequestResponse", value: { result: { case: "approved", value: {} } } };
    case "createPlanRequestQuery":
      return { case: "createPlanRequestResponse", value: { result: { result: { case: "success", value: {} } } } };
    case "setupVmEnvironmentArgs":
      return { case: "setupVmEnvironmentResult", value: { result: { case: "success", value: {} } } };
    case "askQuestionInteractionQuery":
      return {
        case: "askQuestionInteractionResponse",
        value: { result: { result: { case: "rejected", value: { reason } } } },
      };
    case "mcpAuthRequestQuery":
      return { case: "mcpAuthRequestResponse", value: { result: { case: "rejected", value: { reason } } } };
    case "connectScmRequestQuery":
      return { case: "connectScmRequestResponse", value: { result: { case: "rejected", value: { reason } } } };
    case "prManagementRequestQuery":
      return { case: "prManagementResult", value: { result: { case: "error", value: { error: reason } } } };
    case "replaceEnvArgs":
      return { case: "replaceEnvResult", value: { result: { case: "failure", value: { errorMessage: reason } } } };
    default:
      return undefined;
  }
}
