/** Something an agent wants to do on this machine. */
export interface PolicyAction {
  /** `read`, `write`, `delete`, `grep`, `ls`, `shell`, `mcp:<tool>`, `mcp-server`, `fetch`. */
  readonly tool: string;
  /** The command line of a shell or of an MCP server that is to be started. */
  readonly command?: string;
  /** Absolute; the working directory of a shell. */
  readonly path?: string;
  /** The MCP server. */
  readonly server?: string;
  readonly url?: string;
  /** A hook demands that a person decides, and why. */
  readonly mustAsk?: string;
}

/** The outcome; a reason is fit for the model and says what the user can do about it. */
export type PolicyDecision = { readonly allow: true } | { readonly allow: false; readonly reason: string };

/** Decides what may be done on this machine. May wait for a person. */
export interface Policy {
  decide(action: PolicyAction): Promise<PolicyDecision>;
}

/** A policy without limits: for tests and for machines that are thrown away afterwards. */
export const allowEverything: Policy = { decide: () => Promise.resolve({ allow: true }) };
