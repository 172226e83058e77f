import { resolve } from "node:path";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListMcpResourcesExecArgs,
  ReadMcpResourceExecArgs,
  ReadMcpResourceExecResultSchema,
} from "@keyturn/protocol/agent";
import { realPathOf } from "../policy/workspace-paths.js";
import { messageOf } from "./errors.js";
import type { Call } from "./execution.js";
import type { ExecutorContext } from "./executor-context.js";
import type { McpServer } from "./mcp-server.js";
import { replaceFile } from "./write.js";

type ReadResult = NonNullable<MessageInitShape<typeof ReadMcpResourceExecResultSchema>["result"]>;

/** Lists the resources of one MCP server, or of all that answer. */
export async function executeListResources(
  args: ListMcpResourcesExecArgs,
  call: Call,
  context: ExecutorContext,
): Promise<void> {
  const fail = (error: string) =>
    call.answer({ case: "listMcpResourcesExecResult", value: { result: { case: "error", value: { error } } } });
  const names = args.server ? [args.server] : context.mcp.names;
  const servers = names.map((name) => context.mcp.find(name)).filter((server) => server !== undefined);
  if (args.server && servers.length === 0) {
    fail(unknownServer(args.server, context));
    return;
  }
  const listed = await Promise.all(servers.map((server) => listOf(server, call.signal)));
  const problems = listed.flatMap(({ problem }) => (problem === null ? [] : [problem]));
  if (problems.length > 0 && problems.length === servers.length) {
    fail(problems.join("\n"));
    return;
  }
  const resources = listed.flatMap(({ resources: found }) => found);
  call.answer({ case: "listMcpResourcesExecResult", value: { result: { case: "success", value: { resources } } } });
}

/** Reads a resource; with a download path it is stored in the workspace instead of returned. */
export async function executeReadResource(
  args: ReadMcpResourceExecArgs,
  call: Call,
  context: ExecutorContext,
): Promise<void> {
  const { uri } = args;
  const answer = (result: ReadResult) => call.answer({ case: "readMcpResourceExecResult", value: { result } });
  const server = context.mcp.find(args.server);
  if (!server) {
    answer({ case: "error", value: { uri, error: unknownServer(args.server, context) } });
    return;
  }
  const refusal = await context.gate.refusal({ tool: "mcp:resource", server: server.name, url: uri });
  if (refusal !== null) {
    answer({ case: "rejected", value: { uri, reason: refusal } });
    return;
  }
  try {
    const [content] = await server.read(uri, call.signal);
    if (!content) {
      answer({ case: "notFound", value: { uri } });
      return;
    }
    const bytes = "text" in content ? Buffer.from(content.text, "utf8") : Buffer.from(content.blob, "base64");
    const facts = { uri, ...(content.mimeType === undefined ? {} : { mimeType: content.mimeType }) };
    if (args.downloadPath) {
      const path = resolve(context.workspace, args.downloadPath);
      const denied = await context.gate.refusal({ tool: "write", path });
      if (denied !== null) {
        answer({ case: "rejected", value: { uri, reason: denied } });
        return;
      }
      await call.begin();
      await replaceFile(await realPathOf(path), bytes);
      answer({ case: "success", value: { ...facts, downloadPath: path } });
    } else {
      const body =
        "text" in content
          ? ({ case: "text", value: content.text } as const)
          : ({ case: "blob", value: bytes } as const);
      answer({ case: "success", value: { ...facts, content: body } });
    }
  } catch (cause) {
    answer({ case: "error", value: { uri, error: messageOf(cause) } });
  }
}

async function listOf(server: McpServer, signal: AbortSignal) {
  try {
    const found = await server.resources(signal);
    const resources = found.map(({ uri, name, description, mimeType }) => {
      return { uri, name, description, mimeType, server: server.name };
    });
    return { resources, problem: null };
  } catch (cause) {
    return { resources: [], problem: messageOf(cause) };
  }
}

function unknownServer(name: string, context: ExecutorContext): string {
  const known = context.mcp.names.join(", ");
  return `There is no MCP server ${name}.${known === "" ? "" : ` Known: ${known}.`}`;
}
