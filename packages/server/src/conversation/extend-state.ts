import { clone, create, toBinary } from "@bufbuild/protobuf";
import {
  type AgentMode,
  type ConversationStateStructure,
  ConversationStateStructureSchema,
  ConversationTokenDetailsSchema,
  ConversationTurnStructureSchema,
} from "@keyturn/protocol/agent";
import type { Blob } from "../run/ids.js";
import { blobOf, rawId } from "./blob.js";

/** What one turn adds to a conversation. */
export interface TurnAdditions {
  /** The run's messages, as blobs, in order. */
  readonly messages: readonly Blob[];
  readonly userMessage: Blob | null;
  readonly steps: readonly Blob[];
  readonly requestId: string;
  readonly mode: AgentMode;
  /** Encoded to-do items; null leaves them as they are. */
  readonly todos: readonly Uint8Array[] | null;
  readonly tokens: { readonly used: number; readonly max: number } | null;
}

/** A new state, its root, and every blob that has to exist for it. */
export interface ExtendedState {
  readonly structure: ConversationStateStructure;
  readonly root: Blob;
  readonly blobs: readonly Blob[];
}

/**
 * A conversation is a tree of immutable blobs: the state after a turn is the state before it plus the turn's
 * messages and one turn blob. What we do not know in the old state is kept byte for byte.
 */
export function extendState(base: ConversationStateStructure, add: TurnAdditions): ExtendedState {
  const turn = blobOf(
    toBinary(
      ConversationTurnStructureSchema,
      create(ConversationTurnStructureSchema, {
        turn: {
          case: "agentConversationTurn",
          value: {
            userMessage: add.userMessage ? rawId(add.userMessage.id) : new Uint8Array(),
            steps: add.steps.map((step) => rawId(step.id)),
            requestId: add.requestId,
          },
        },
      }),
    ),
  );
  const structure = clone(ConversationStateStructureSchema, base);
  structure.rootPromptMessagesJson.push(...add.messages.map((message) => rawId(message.id)));
  structure.turns.push(rawId(turn.id));
  structure.mode = add.mode;
  if (add.todos) structure.todos = add.todos.map((todo) => new Uint8Array(todo));
  if (add.tokens) {
    structure.tokenDetails = create(ConversationTokenDetailsSchema, {
      usedTokens: add.tokens.used,
      maxTokens: add.tokens.max,
    });
  }
  const root = blobOf(toBinary(ConversationStateStructureSchema, structure));
  const user = add.userMessage ? [add.userMessage] : [];
  return { structure, root, blobs: unique([...add.messages, ...user, ...add.steps, turn, root]) };
}

function unique(blobs: readonly Blob[]): readonly Blob[] {
  return [...new Map(blobs.map((blob) => [blob.id, blob])).values()];
}
