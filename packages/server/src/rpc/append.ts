import { Code, ConnectError } from "@connectrpc/connect";
import { BidiAppendRequestSchema, BidiAppendResponseSchema } from "@keyturn/protocol/aiserver";
import { appendPayload } from "@keyturn/protocol/codec";
import type { Call, RpcServices } from "./services.js";
import { checkRequestId } from "./stream-run.js";
import { unary } from "./unary.js";

/** `BidiAppend`: one client message into the log; acknowledged once it is there, never later (T1, I-04). */
export function bidiAppend(services: RpcServices): Call {
  return unary(
    services,
    BidiAppendRequestSchema,
    BidiAppendResponseSchema,
    async (request, exchange) => {
      const startedAt = performance.now();
      const requestId = checkRequestId(request.requestId?.requestId, "request_id");
      const number = Number(request.appendSeqno);
      if (number < 0 || !Number.isSafeInteger(number)) {
        throw new ConnectError("append_seqno must be 0 or more", Code.InvalidArgument);
      }
      const bytes = appendPayload(request);
      await services.host.append({ requestId, number, bytes, options: services.classify(exchange).options });
      services.reports.appendAnswered(performance.now() - startedAt);
      return {};
    },
    services.maxBodyBytes,
  );
}
