import { createHash } from "node:crypto";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  type BlobEntry,
  CreateTranscriptOverviewRequestSchema,
  CreateTranscriptOverviewResponseSchema,
  GetPromptContextUsageRequestSchema,
  GetPromptContextUsageResponseSchema,
  NameAgentRequestSchema,
  NameAgentResponseSchema,
  NotifyConversationCloneRequestSchema,
  NotifyConversationCloneResponseSchema,
  UpdateConversationMetadataRequestSchema,
  UpdateConversationMetadataResponseSchema,
  UploadConversationBlobsRequestSchema,
  UploadConversationBlobsResponseSchema,
  UploadLocalAgentRunToPromptQualityRequestSchema,
  UploadLocalAgentRunToPromptQualityResponseSchema,
} from "@keyturn/protocol/agent";
import type { Blob } from "../run/ids.js";
import type { Call, RpcServices } from "./services.js";
import { titleOf } from "./title.js";
import { unary } from "./unary.js";

const mebibyte = 1024 * 1024;
const upload = { count: 1_000, blobBytes: 64 * mebibyte, totalBytes: 256 * mebibyte };
const maxIdLength = 256;

/** The procedures of `agent.v1.AgentService` around a conversation, by name. */
export function conversationCalls(services: RpcServices): Record<string, Call> {
  return {
    NameAgent: unary(services, NameAgentRequestSchema, NameAgentResponseSchema, ({ userMessage }) => ({
      name: titleOf(userMessage),
    })),
    UpdateConversationMetadata: unary(
      services,
      UpdateConversationMetadataRequestSchema,
      UpdateConversationMetadataResponseSchema,
      async (request) => {
        const id = conversationId(request.conversationId, "conversation_id");
        const known = await services.conversations.get(id);
        const keepsName = request.onlySetNameIfEmpty === true && (known?.name ?? "") !== "";
        const paths = request.workspacePaths.length > 0 ? request.workspacePaths : (known?.workspacePaths ?? []);
        await services.conversations.setMetadata(id, keepsName ? undefined : request.name, paths);
        return {};
      },
    ),
    UploadConversationBlobs: unary(
      services,
      UploadConversationBlobsRequestSchema,
      UploadConversationBlobsResponseSchema,
      async (request) => {
        conversationId(request.conversationId, "conversation_id");
        const { chunkIndex, totalChunks } = request;
        const onlyChunk = chunkIndex === 0 && totalChunks === 0;
        if (!onlyChunk && (chunkIndex < 0 || chunkIndex >= totalChunks)) {
          throw invalid("chunk_index must be 0 or more and below total_chunks");
        }
        await services.blobs.put(checkedBlobs(request.blobs));
        return {};
      },
      upload.totalBytes + mebibyte,
    ),
    NotifyConversationClone: unary(
      services,
      NotifyConversationCloneRequestSchema,
      NotifyConversationCloneResponseSchema,
      (request) => {
        const copy = conversationId(request.conversationId, "conversation_id");
        const original = conversationId(request.sourceConversationId, "source_conversation_id");
        if (copy === original) throw invalid("source_conversation_id must be another conversation");
        // Blobs belong to no conversation: the copy may name those of the original without further ado.
        return {};
      },
    ),
    // Nothing to sum up, no snapshot and no quality analysis here: the empty messages say so.
    CreateTranscriptOverview: unary(
      services,
      CreateTranscriptOverviewRequestSchema,
      CreateTranscriptOverviewResponseSchema,
      () => ({}),
    ),
    GetPromptContextUsage: unary(
      services,
      GetPromptContextUsageRequestSchema,
      GetPromptContextUsageResponseSchema,
      () => ({}),
    ),
    UploadLocalAgentRunToPromptQuality: unary(
      services,
      UploadLocalAgentRunToPromptQualityRequestSchema,
      UploadLocalAgentRunToPromptQualityResponseSchema,
      () => ({}),
      upload.blobBytes,
    ),
  };
}

function conversationId(text: string, field: string): string {
  const id = text.trim();
  if (id === "") throw invalid(`${field} is missing`);
  if (id.length > maxIdLength) throw invalid(`${field} is longer than ${maxIdLength} characters`);
  return id;
}

function checkedBlobs(entries: readonly BlobEntry[]): Blob[] {
  if (entries.length > upload.count) throw tooMuch(`more than ${upload.count} blobs in one chunk`);
  const totalBytes = entries.reduce((sum, { value }) => sum + value.length, 0);
  if (totalBytes > upload.totalBytes) throw tooMuch(`more than ${upload.totalBytes} bytes in one chunk`);
  return entries.map(({ id, value }, index) => {
    if (value.length > upload.blobBytes) throw tooMuch(`blobs[${index}] has more than ${upload.blobBytes} bytes`);
    const hash = createHash("sha256").update(value).digest("hex");
    if (Buffer.from(id).toString("hex") !== hash) throw invalid(`blobs[${index}].id is not the SHA-256 of its value`);
    return { id: hash, bytes: value };
  });
}

function invalid(words: string): ConnectError {
  return new ConnectError(words, Code.InvalidArgument);
}

function tooMuch(words: string): ConnectError {
  return new ConnectError(words, Code.ResourceExhausted);
}
