import { decodeClientMessage } from "@keyturn/protocol/codec";
import { isBlob } from "../conversation/blob.js";
import type { PassEvent, Projection } from "../run/inputs.js";
import type { RunLogic } from "../run/logic.js";
import type { RunState } from "../run/state.js";
import { mcpRoutes } from "../tools/mcp-routes.js";
import type { McpRoute } from "../tools/tool.js";
import { beginTurn, subagentPrompt } from "./begin.js";
import { callLogic } from "./calls.js";
import { projectCheckpoint } from "./checkpoint.js";
import { toFacts, turnFacts } from "./facts.js";
import { HistoryLoader } from "./load-history.js";
import { runPass } from "./pass.js";
import { mcpDefinitions, readContext } from "./prompt/index.js";
import type { TurnServices } from "./services.js";

/** The turn room as the engine takes it: pure answers for deciding, and effects for the world. */
export interface Turn {
  readonly logic: RunLogic;
  runPass(
    state: RunState,
    emit: (event: PassEvent) => Promise<void>,
    alive: () => void,
    signal: AbortSignal,
  ): Promise<void>;
  project(state: RunState, revision: number): Promise<Projection>;
}

/** Builds the turn room: one agent turn, from the request's message to its last checkpoint. */
export function createTurn(services: TurnServices): Turn {
  const loader = new HistoryLoader(services.blobs);
  return {
    logic: {
      ...callLogic,
      decode: decodeClientMessage,
      isBlob,
      begin: (key, message, at) => beginTurn(services.models, key, message, at),
      withContext(facts, message) {
        const result = message?.message.case === "requestContextResult" ? message.message.value.result : undefined;
        const context = result?.case === "success" ? result.value.requestContext : undefined;
        if (!context) return {};
        const { mcp, subagentType } = turnFacts({ facts });
        const known = (route: McpRoute) =>
          mcp.some(
            (one) => one.alias === route.alias || (one.server === route.server && one.toolName === route.toolName),
          );
        const fresh = mcpRoutes(mcpDefinitions(context, [])).filter((route) => !known(route));
        return toFacts({
          context: readContext(context),
          mcp: [...mcp, ...fresh],
          subagentPrompt: subagentPrompt(context, subagentType),
        });
      },
    },
    runPass: (state, emit, alive, signal) => runPass(services, loader, state, { emit, alive }, signal),
    project: (state, revision) => projectCheckpoint(services, loader, state, revision),
  };
}
