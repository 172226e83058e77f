import { AgentMode } from "@keyturn/protocol/agent";

/** The modes by the names people use. */
export const modes = {
  agent: AgentMode.AGENT,
  ask: AgentMode.ASK,
  plan: AgentMode.PLAN,
  debug: AgentMode.DEBUG,
} as const;

/** The name of a mode. */
export type ModeName = keyof typeof modes;

/** The mode with that name, undefined when there is none. */
export function modeOf(name: string): AgentMode | undefined {
  return Object.hasOwn(modes, name) ? modes[name as ModeName] : undefined;
}
