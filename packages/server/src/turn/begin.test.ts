import { create, fromBinary } from "@bufbuild/protobuf";
import {
  AgentClientMessageSchema,
  AgentMode,
  type AgentRunRequest,
  AgentRunRequestSchema,
  ConversationStateStructureSchema,
  UserMessageSchema,
} from "@keyturn/protocol/agent";
import { describe, expect, test } from "vitest";
import { blobOf, rawId } from "../conversation/blob.js";
import { createModelGateway } from "../models/gateway.js";
import type { Beginning } from "../run/logic.js";
import { beginTurn } from "./begin.js";
import { turnFacts } from "./facts.js";

const models = createModelGateway({
  providers: [{ name: "local", type: "openai-compatible", baseURL: "http://127.0.0.1:9/v1" }],
  models: [{ id: "small", provider: "local" }],
  aliases: { default: "small" },
});
const key = { requestId: "request-1", generation: 0 };

function begin(request: Parameters<typeof create<typeof AgentRunRequestSchema>>[1]) {
  const message = create(AgentClientMessageSchema, {
    message: { case: "runRequest", value: create(AgentRunRequestSchema, request) as AgentRunRequest },
  });
  return beginTurn(models, key, message, 1_000);
}

function begun(request: Parameters<typeof begin>[0]): Beginning {
  const result = begin(request);
  if ("code" in result) throw new Error(result.detail);
  return result;
}

const hello = { action: { case: "userMessageAction" as const, value: { userMessage: { text: "hello" } } } };

describe("a run_request is read whole (I1)", () => {
  test("conversation, model, parameters, mode, custom prompt and subagent type", () => {
    const result = begun({
      conversationId: "agent-1",
      action: { action: { case: "userMessageAction", value: { userMessage: { text: "hi", mode: AgentMode.ASK } } } },
      requestedModel: { modelId: "small", parameters: [{ id: "effort", value: "high" }] },
      customSystemPrompt: "  Speak Latin.  ",
      subagentTypeName: "explore",
    });
    expect({ ...result, facts: undefined, blobs: result.blobs.length }).toMatchObject({
      conversationId: "agent-1",
      model: "small",
      wantsContext: true,
      held: [],
      blobs: 1,
    });
    expect(turnFacts(result)).toMatchObject({
      text: "hi",
      mode: "ask",
      parameters: { effort: "high" },
      customSystemPrompt: "Speak Latin.",
      subagentType: "explore",
      base: null,
    });
  });

  test("the state it starts from becomes a blob that keeps what we do not know (P23)", () => {
    const state = create(ConversationStateStructureSchema, { mode: AgentMode.PLAN });
    state.$unknown = [{ no: 999, wireType: 0, data: new Uint8Array([7]) }];
    const result = begun({ conversationId: "c", conversationState: state, action: hello });
    const base = result.blobs.find((blob) => blob.id === turnFacts(result).base);
    expect(base && fromBinary(ConversationStateStructureSchema, base.bytes).$unknown).toEqual(state.$unknown);
    // The mode of the state holds until a message names another.
    expect(turnFacts(result).mode).toBe("plan");
  });

  test("pre-fetched blobs count as held only when their bytes are what their name says", () => {
    const good = blobOf(new Uint8Array([1, 2, 3]));
    const result = begun({
      conversationId: "c",
      action: hello,
      preFetchedBlobs: [
        { id: rawId(good.id), value: good.bytes },
        { id: rawId(blobOf(new Uint8Array([9])).id), value: new Uint8Array([8]) },
      ],
    });
    expect(result.held).toEqual([good.id]);
  });

  test("a pasted image is found in the pre-fetched blobs, and one without a body is told (I-52)", () => {
    const image = blobOf(new Uint8Array([0x89, 0x50, 0x4e, 0x47]));
    const result = begun({
      conversationId: "c",
      preFetchedBlobs: [{ id: rawId(image.id), value: image.bytes }],
      action: {
        action: {
          case: "userMessageAction",
          value: {
            userMessage: {
              text: "look",
              selectedContext: {
                selectedImages: [
                  { mimeType: "image/png", dataOrBlobId: { case: "blobId", value: rawId(image.id) } },
                  { path: "/w/a.png" },
                ],
              },
            },
          },
        },
      },
    });
    expect(turnFacts(result).images).toEqual([{ mediaType: "image/png", blobId: image.id }]);
    expect(turnFacts(result).imageNotes).toEqual(["An image was attached as the path /w/a.png; it is not shown here."]);
  });

  test("the user message is kept as the client sent it", () => {
    const result = begun({ conversationId: "c", action: hello });
    const blob = result.blobs.find((one) => one.id === turnFacts(result).userMessage);
    expect(blob && fromBinary(UserMessageSchema, blob.bytes).text).toBe("hello");
  });
});

describe("what cannot start says why", () => {
  test.each(["", "../../etc/passwd", "a/b", "CON", "x".repeat(4_096), "%2e%2e%2f", "a\0b"])(
    "the conversation id %j (I-67)",
    (conversationId) => {
      expect(begin({ conversationId, action: hello })).toMatchObject({
        code: "request/invalid",
        detail: expect.stringContaining("conversation_id"),
      });
    },
  );

  test("an unknown model lists the configured ones", () => {
    expect(begin({ conversationId: "c", action: hello, requestedModel: { modelId: "nope" } })).toMatchObject({
      code: "model/unknown",
      detail: expect.stringMatching(/"nope" is not configured.*small/),
    });
  });

  test("an action that starts nothing is named", () => {
    expect(begin({ conversationId: "c" })).toMatchObject({
      code: "request/invalid",
      detail: expect.stringContaining("no action"),
    });
  });
});
