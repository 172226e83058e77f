import type { KvServerMessage } from "@keyturn/protocol/agent";
import type { ClientStore } from "../store/client-store.js";
import type { ClientMessageInit } from "./client-message.js";

/**
 * Answers a question about a blob from the store. A store that cannot take or give one is told to the server and to
 * `onProblem`: the server drops a checkpoint then, and the turn goes on.
 */
export async function answerBlob(
  { id, message }: KvServerMessage,
  store: Pick<ClientStore, "blob" | "putBlob">,
  onProblem: (what: string, cause: unknown) => void,
): Promise<ClientMessageInit | undefined> {
  switch (message.case) {
    case "setBlobArgs":
      try {
        await store.putBlob(message.value.blobId, message.value.blobData);
        return answer(id, { case: "setBlobResult", value: {} });
      } catch (cause) {
        onProblem("the conversation could not be saved", cause);
        const error = { message: "the client could not store it" };
        return answer(id, { case: "setBlobResult", value: { error } });
      }
    case "getBlobArgs":
      try {
        const blobData = await store.blob(message.value.blobId);
        return answer(id, { case: "getBlobResult", value: { blobData } });
      } catch (cause) {
        onProblem("a part of the conversation could not be read", cause);
        return answer(id, { case: "getBlobResult", value: {} });
      }
    default:
      return undefined;
  }
}

type KvAnswer = Extract<ClientMessageInit, { case: "kvClientMessage" }>["value"]["message"];

function answer(id: number, message: KvAnswer): ClientMessageInit {
  return { case: "kvClientMessage", value: { id, message } };
}
