/** What the model is told: the client's words as bounded facts, and facts as the texts of a prompt. */
export { changedSections } from "./changed-sections.js";
export type { ContextFacts } from "./context-facts.js";
export { mcpDefinitions } from "./mcp-definitions.js";
export { subagentPromptOf } from "./read-capabilities.js";
export { readContext } from "./read-context.js";
export { readSelected } from "./read-selected.js";
export { renderNote } from "./render-note.js";
export { renderUserMessage } from "./render-user-message.js";
export type { SelectedFacts } from "./selected-facts.js";
export { renderSystem, systemSections } from "./system-sections.js";
