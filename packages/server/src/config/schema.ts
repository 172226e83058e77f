import { z } from "zod";

/*
 * The shape of keyturn.yaml. The descriptions are the documentation: docs/configuration.md is made of them.
 * Checks that look at more than one value are in cross-check.ts.
 */

const port = z.int().min(0).max(65_535);
const milliseconds = z.int().min(0).max(2_000_000_000);
const name = z.string().min(1).max(200);
const url = z.url({ protocol: /^https?$/, error: "must be an http:// or https:// URL" });

const server = z.strictObject({
  host: z.string().min(1).default("127.0.0.1").describe("Address to listen on. `0.0.0.0` or `::` for all."),
  port: port.default(8484).describe("Port to listen on; 0 takes a free one."),
  http2: z
    .boolean()
    .default(false)
    .describe(
      "Tell clients that ask for the server's settings to prefer HTTP/2. Both versions are always served on the one port.",
    ),
  tls: z
    .strictObject({
      cert: z.string().min(1).describe("File with the certificate chain (PEM), relative to this file."),
      key: z.string().min(1).describe("File with the private key (PEM), relative to this file."),
    })
    .optional()
    .describe("Serve HTTPS."),
  publicUrl: url
    .optional()
    .describe("The address that clients use, where it is not the one listened on (behind a proxy)."),
  allowedHosts: z
    .array(z.string().min(1))
    .default([])
    .describe(
      "Host names that requests may carry, besides localhost, the loopback addresses, `host` and the one of `publicUrl`.",
    ),
  allowedOrigins: z
    .array(z.string().min(1))
    .default([])
    .describe("Origins of web pages that may call the server, besides its own dashboard."),
  maxBodyBytes: z
    .int()
    .min(1024)
    .default(150_994_944)
    .describe("Largest request body. The default holds a 64 MiB blob in hexadecimal."),
  heartbeatMs: z.int().min(100).max(25_000).default(5_000).describe("Silence after which a stream gets a heartbeat."),
});

const store = z.strictObject({
  url: z
    .string()
    .min(1)
    .default("sqlite:keyturn.db")
    .describe("Where runs and conversations are kept: `sqlite:` and a file, relative to the data folder."),
  maxSizeBytes: z.int().min(1_048_576).optional().describe("Upper bound of the SQLite file; none by default."),
  retentionMs: z
    .int()
    .min(30_000)
    .default(86_400_000)
    .describe("How long an ended run can still be subscribed to. Conversations are kept until they are deleted."),
});

const timeouts = z.strictObject({
  connectMs: milliseconds.optional().describe("To the connection; 10 s by default."),
  firstByteMs: milliseconds.optional().describe("From the request to the answer's headers; 10 min by default."),
  idleMs: milliseconds.optional().describe("Between two reads of the answer; 5 min by default."),
  totalMs: milliseconds.optional().describe("For one whole attempt; none by default."),
});

const provider = z.strictObject({
  type: z
    .enum(["openai", "anthropic", "google", "openai-compatible"])
    .describe("The protocol it speaks. `openai-compatible` is for everything with a `/chat/completions`."),
  apiKey: z.string().min(1).optional().describe("Your key, best as `${NAME}` or `{file:path}`."),
  baseURL: url.optional().describe("Base of its API; needed for `openai-compatible`."),
  headers: z.record(z.string(), z.string()).optional().describe("Sent with every request."),
  timeouts: timeouts.optional().describe("Time limits; 0 turns one off."),
});

const model = z.strictObject({
  id: name.describe("The id that clients use."),
  provider: name.describe("A name under `providers`."),
  model: name.optional().describe("The id that the provider knows; `id` by default."),
  displayName: name.optional().describe("What people see."),
  description: z.string().max(2_000).optional().describe("One line about it."),
  contextWindow: z.int().min(1_024).optional().describe("Tokens of prompt and answer together."),
  maxOutputTokens: z.int().min(1).optional().describe("Tokens of one answer."),
  vision: z.boolean().optional().describe("Whether it can be shown images."),
  reasoning: z
    .strictObject({
      tags: z.literal("think").optional().describe("Read `<think>` tags at the start of an answer as reasoning."),
      implicitOpen: z.boolean().optional().describe("The answer starts inside the tag."),
    })
    .optional()
    .describe("How a local model's reasoning is told from its text."),
});

const slots = z.strictObject({
  title: name.optional().describe("Names conversations; the conversation's own model by default."),
  compaction: name
    .optional()
    .describe("Summarises conversations that get too long; the conversation's own model by default."),
  subagent: name.optional().describe("Runs subagents whose model nobody chose; their parent's model by default."),
});

const client = z.strictObject({
  name: name.describe("What the rule is called in logs."),
  headers: z
    .record(z.string(), z.string())
    .describe("Request headers and what they must be; `*` stands for anything. All must match."),
  onDisconnect: z
    .enum(["cancel", "continue"])
    .default("cancel")
    .describe(
      "What becomes of a run that nobody subscribes to any more: canceled after the grace, or continued as far as it can without a client.",
    ),
  disconnectGraceMs: milliseconds.optional().describe("In place of the one under `limits`."),
  contentType: z
    .enum(["connect", "event-stream"])
    .default("connect")
    .describe(
      "Content type of the stream: `application/connect+proto`, or `text/event-stream` for clients that insist on it.",
    ),
});

const limit = (minimum: number, value: number, words: string) =>
  z.int().min(minimum).max(2_000_000_000).default(value).describe(words);

const limits = z.strictObject({
  disconnectGraceMs: limit(0, 30_000, "How long a run goes on after its last subscriber left."),
  runTotalMs: limit(1_000, 86_400_000, "How long a run may take in all."),
  maxPasses: limit(1, 200, "How many times a run may ask its model."),
  stopGraceMs: limit(0, 10_000, "How long a stopping server waits for its streams to end."),
  appendGapMs: limit(100, 30_000, "How long a later append waits for a missing one."),
  gapAfterTakeoverMs: limit(100, 3_000, "The same after a restart, when a missing heartbeat may be the reason."),
  inboxCount: limit(1, 256, "How many appends of a run may wait for a missing one."),
  inboxBytes: limit(1_024, 67_108_864, "How many bytes they may have together."),
  startMs: limit(1_000, 60_000, "How long a run may exist before the message that starts it."),
  contextMs: limit(100, 15_000, "How long a run waits for the client's context."),
  execSilenceMs: limit(1_000, 60_000, "Silence of a client execution that has given signs of life before."),
  execUnansweredMs: limit(1_000, 600_000, "Silence of a client execution that never gave any."),
  execCloseGraceMs: limit(0, 1_500, "How long a result may follow the end of its execution."),
  blobMs: limit(100, 10_000, "How long a client may take to confirm or send a blob."),
  firstSubscriberMs: limit(100, 30_000, "How long a run waits for its first subscriber."),
  passSilenceMs: limit(1_000, 900_000, "Silence of a model, after all retries, that ends the pass."),
  maxInterruptions: limit(0, 5, "How many passes in a row may be cut off before a run gives up."),
});

/** The whole file. */
export const configSchema = z.strictObject({
  server: server.prefault({}).describe("Where and how the server listens."),
  store: store.prefault({}).describe("Where data is kept."),
  providers: z.record(name, provider).optional().describe("Accounts at model providers, by a name of your choice."),
  models: z
    .array(model)
    .optional()
    .describe("The models to offer; without the key, the well-known ones of every provider."),
  aliases: z
    .record(name, name.describe("The id of a model."))
    .default({})
    .describe('Other names for models; `*` stands for anything, and "default" names the default model.'),
  slots: slots.prefault({}).describe("Models for the server's own work."),
  fallbacks: z
    .record(name, z.array(name).describe("The ids of models, the next to try first."))
    .default({})
    .describe("Models to try, in order, while one is not available."),
  clients: z.array(client).default([]).describe("Rules for classes of clients; the first that matches counts."),
  limits: limits.prefault({}).describe("Bounds of runs. Times are in milliseconds."),
  logLevel: z
    .enum(["trace", "debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("How much is logged. Prompts and keys never are."),
});

/** The file after the schema: defaults filled in, references replaced. */
export type ConfigFile = z.output<typeof configSchema>;

/** The published JSON schema, for editors and for `config schema`. */
export function jsonSchema(): Record<string, unknown> {
  return { title: "Keyturn configuration", ...z.toJSONSchema(configSchema, { io: "input" }) };
}
