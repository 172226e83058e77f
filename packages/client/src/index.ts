export { Conversation, type ConversationServices, PromptRefused, type TurnOptions } from "./agent/conversation.js";
export { LocalAgent, type LocalAgentOptions } from "./agent/local-agent.js";
export { type SubagentListener, Subagents } from "./agent/subagents.js";
export {
  type Execution,
  ExecutionFailure,
  type ExecutionJournal,
  Executor,
  type ExecutorOptions,
  type McpServerConfig,
  type PolicyAction,
  type PolicyDecision,
} from "./executor/executor.js";
export { FileJournal } from "./executor/file-journal.js";
export { allowEverything, type Policy } from "./policy/policy.js";
export {
  type PolicyAnswer,
  type PolicyQuestion,
  ProjectPolicy,
  type ProjectPolicyOptions,
} from "./policy/project-policy.js";
export type { PolicyRule } from "./policy/rules.js";
export { AgentServer, type ConnectOptions, type TransportChoice } from "./session/agent-server.js";
export type { ClientMessageInit, RunRequestInit } from "./session/client-message.js";
export { type SessionClock, systemClock } from "./session/clock.js";
export { answerWithoutPerson, type QueryAnswer } from "./session/default-answers.js";
export type { ExecutionHandler } from "./session/executions.js";
export { Http1Transport } from "./session/http1-transport.js";
export { Http2Transport } from "./session/http2-transport.js";
export type { RunOutcome, TurnUsage } from "./session/outcome.js";
export { PollTransport } from "./session/poll-transport.js";
export { type ServerError, ServerRefusal } from "./session/refusal.js";
export { Session } from "./session/session.js";
export {
  defaultSessionLimits,
  type SessionEvent,
  type SessionLimits,
  type SessionOptions,
} from "./session/session-options.js";
export {
  describeFailure,
  type RunStream,
  type ServerAddress,
  type StreamEnd,
  type StreamListener,
  type StreamRequest,
  type Transport,
} from "./session/transport.js";
export type { ClientStore, StoredConversation } from "./store/client-store.js";
export { FileStore } from "./store/file-store.js";
export { MemoryStore } from "./store/memory-store.js";
