import { createHash } from "node:crypto";
import { toBinary } from "@bufbuild/protobuf";
import {
  type AgentClientMessage,
  AgentMode,
  type AgentRunRequest,
  ConversationStateStructureSchema,
  type RequestContext,
  type UserMessage,
  UserMessageSchema,
} from "@keyturn/protocol/agent";
import { namedBlobs } from "../conversation/base.js";
import { blobOf, idOf, isBlob } from "../conversation/blob.js";
import type { ModelGateway } from "../models/port.js";
import { type Fault, fault } from "../run/faults.js";
import type { Blob, BlobId, RunKey } from "../run/ids.js";
import type { Beginning } from "../run/logic.js";
import { mcpRoutes } from "../tools/mcp-routes.js";
import { type Mode, type TurnFacts, toFacts } from "./facts.js";
import { mcpDefinitions, readContext, readSelected, subagentPromptOf } from "./prompt/index.js";
import { readTodos } from "./todos.js";

/**
 * Reads the message that starts a run (I1): what is asked, of which model, from which state. Anything that cannot
 * start says why, naming the field.
 */
export function beginTurn(
  models: ModelGateway,
  key: RunKey,
  message: AgentClientMessage,
  at: number,
): Beginning | Fault {
  if (message.message.case !== "runRequest") return invalid("The first message has to be a run_request.");
  const request = message.message.value;
  const conversationId = request.conversationId ?? "";
  if (!isConversationId(conversationId)) {
    return invalid("conversation_id is missing or not usable: send 1 to 200 letters, digits, '.', '_', ':' or '-'.");
  }
  const action = readAction(request);
  if ("code" in action) return action;
  const requested = request.requestedModel?.modelId || request.modelDetails?.modelId || "default";
  const model = models.resolve(requested);
  if (!model) return unknownModel(models, requested);
  const base = readBase(request);
  const bodies = prefetched(request);
  const selected = readSelected(action.userMessage?.selectedContext);
  const images = readImages(selected.images, bodies);
  const userMessage = action.userMessage ? blobOf(toBinary(UserMessageSchema, action.userMessage)) : null;
  const previousMode = readMode(request.conversationState?.mode);
  const facts: TurnFacts = {
    requestId: key.requestId,
    mode: action.mode ?? readMode(action.userMessage?.mode) ?? previousMode ?? "agent",
    previousMode: previousMode ?? null,
    parameters: Object.fromEntries(request.requestedModel?.parameters.map(({ id, value }) => [id, value]) ?? []),
    text: action.text,
    selected: selected.facts,
    images: images.kept,
    imageNotes: images.notes,
    userMessage: userMessage?.id ?? null,
    customSystemPrompt: request.customSystemPrompt?.trim() || null,
    subagentType: request.subagentTypeName || null,
    subagentPrompt: subagentPrompt(action.context, request.subagentTypeName),
    base: base?.id ?? null,
    context: action.context ? readContext(action.context) : null,
    mcp: mcpRoutes(mcpDefinitions(action.context, request.mcpTools?.mcpTools ?? [])),
    todos: readTodos(request.conversationState?.todos ?? [], at),
    startedAt: at,
  };
  return {
    conversationId,
    model: model.id,
    tag: createHash("sha256").update(`${key.requestId}#${key.generation}`).digest("hex").slice(0, 12),
    facts: toFacts(facts),
    blobs: [...bodies.values(), ...images.blobs, ...(base ? [base] : []), ...(userMessage ? [userMessage] : [])],
    held: [...new Set([...bodies.keys(), ...(request.conversationState ? namedBlobs(request.conversationState) : [])])],
    wantsContext: !action.context && request.excludeWorkspaceContext !== true,
    userMessage: action.userMessage ?? null,
  };
}

/** The prompt of a custom subagent, as the client's context defines it. */
export function subagentPrompt(context: RequestContext | undefined, type: string | null | undefined): string | null {
  return (context && type && subagentPromptOf(context, type)) || null;
}

interface Action {
  readonly userMessage: UserMessage | undefined;
  readonly text: string | null;
  readonly context: RequestContext | undefined;
  readonly mode?: Mode;
}

function readAction(request: AgentRunRequest): Action | Fault {
  const action = request.action?.action;
  switch (action?.case) {
    case "userMessageAction": {
      const { userMessage, requestContext } = action.value;
      if (!userMessage) return invalid("action.user_message_action.user_message is missing.");
      return { userMessage, text: userMessage.text, context: requestContext };
    }
    case "startPlanAction": {
      const { userMessage, requestContext } = action.value;
      return { userMessage, text: userMessage?.text ?? null, context: requestContext, mode: "plan" };
    }
    case "executePlanAction": {
      const { requestContext, executionMode, plan, planFileContent } = action.value;
      const content = planFileContent || plan?.plan;
      const text = content ? `Carry out this plan:\n\n${content}` : "Carry out the plan we agreed on.";
      return { userMessage: undefined, text, context: requestContext, mode: readMode(executionMode) ?? "agent" };
    }
    case "resumeAction":
      return { userMessage: undefined, text: null, context: action.value.requestContext };
    default: {
      const name = action?.case ?? "no action";
      return invalid(`action holds ${name}; a run starts with a user message, a resume or a plan action.`);
    }
  }
}

const modes: ReadonlyMap<AgentMode, Mode> = new Map([
  [AgentMode.AGENT, "agent"],
  [AgentMode.ASK, "ask"],
  [AgentMode.PLAN, "plan"],
  [AgentMode.DEBUG, "debug"],
]);

function readMode(mode: AgentMode | undefined): Mode | undefined {
  return mode === undefined ? undefined : modes.get(mode);
}

/** The wire's name of a mode. */
export function wireMode(mode: Mode): AgentMode {
  return [...modes].find(([, name]) => name === mode)?.[0] ?? AgentMode.AGENT;
}

/** Ids are never used as paths, and what could be one is refused all the same (I-67). */
function isConversationId(id: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:@-]{0,199}$/.test(id) && !/^(con|prn|aux|nul|com\d|lpt\d)$/i.test(id);
}

function readBase(request: AgentRunRequest): Blob | undefined {
  if (!request.conversationState) return undefined;
  const bytes = toBinary(ConversationStateStructureSchema, request.conversationState);
  return bytes.byteLength === 0 ? undefined : blobOf(bytes);
}

/** Blobs the client sent along, those whose bytes are what their name says. */
function prefetched(request: AgentRunRequest): ReadonlyMap<BlobId, Blob> {
  const found = new Map<BlobId, Blob>();
  for (const { id, value } of request.preFetchedBlobs) {
    const name = idOf(id);
    if (name && isBlob(name, value)) found.set(name, { id: name, bytes: value });
  }
  return found;
}

function readImages(images: ReturnType<typeof readSelected>["images"], bodies: ReadonlyMap<BlobId, Blob>) {
  const blobs: Blob[] = [];
  const kept: { mediaType: string; blobId: BlobId }[] = [];
  const notes: string[] = [];
  for (const image of images) {
    const mediaType = image.mediaType || "image/png";
    if (image.bytes && image.bytes.byteLength > 0) {
      const blob = blobOf(image.bytes);
      blobs.push(blob);
      kept.push({ mediaType, blobId: blob.id });
    } else if (image.blobId) {
      kept.push({ mediaType, blobId: bodies.get(image.blobId)?.id ?? image.blobId });
    } else {
      notes.push(
        `An image was attached as ${image.path ? `the path ${image.path}` : "an empty body"}; it is not shown here.`,
      );
    }
  }
  return { blobs, kept, notes };
}

function unknownModel(models: ModelGateway, requested: string): Fault {
  const known = models.models().map((model) => model.id);
  const detail = `The model "${requested}" is not configured. Configured models: ${known.join(", ")}. Add it to keyturn.yaml, or an alias for it.`;
  return fault("model/unknown", detail);
}

function invalid(detail: string): Fault {
  return fault("request/invalid", detail);
}
