import type { ContextFacts, EnvironmentFacts } from "./context-facts.js";
import { labelled, lines } from "./markup.js";

/** The lines about the machine: only what stays the same for the whole conversation. */
export function environmentText(context: ContextFacts): string {
  const environment = context.env;
  return lines(environment ? machineText(environment) : "", attributionText(context));
}

function machineText(environment: EnvironmentFacts): string {
  const [workspace = "", ...others] = environment.workspacePaths;
  return lines(
    labelled("Workspace", workspace),
    ...others.map((path) => labelled("Additional workspace", path)),
    environment.isWorkingDirHomeDir
      ? "The workspace is the user's home folder, not a project: search it narrowly, never as a whole."
      : "",
    environment.processFolder === workspace ? "" : labelled("Folder the client runs in", environment.processFolder),
    labelled("Operating system", environment.osVersion),
    labelled("Shell", environment.shell),
    labelled("Time zone", environment.timeZone),
    labelled("Client's folder for this project", environment.projectFolder),
    labelled("Folder with the text of the user's terminals", environment.terminalsFolder),
    labelled("Folder with transcripts of earlier conversations", environment.transcriptsFolder),
    labelled("Folder for notes of this conversation", environment.conversationNotesFolder),
    labelled("Folder for notes shared between conversations", environment.sharedNotesFolder),
    labelled("Folder for files made for the user to look at", environment.artifactsFolder),
    ...environment.stores.map((store) => `Mounted folder: ${store.path}${storeNote(store)}`),
    sandboxText(environment.sandbox),
    environment.secretRedaction ? "The client replaces secrets in what it sends; do not try to restore them." : "",
  );
}

function storeNote(store: EnvironmentFacts["stores"][number]): string {
  const notes = [store.name, store.readOnly ? "read-only" : ""].filter((note) => note !== "");
  return notes.length > 0 ? ` (${notes.join(", ")})` : "";
}

function sandboxText(sandbox: EnvironmentFacts["sandbox"]): string {
  if (!sandbox.enabled) return "";
  const hosts = sandbox.networkAllowed.join(", ");
  const network = sandbox.networkDefaults ? ["the client's usual hosts", hosts] : [hosts];
  const reachable = network.filter((part) => part !== "").join(", ") || "none";
  return `Shell commands run in a sandbox. They can write below the workspace; hosts they can reach: ${reachable}.`;
}

function attributionText({ attribution }: ContextFacts): string {
  return lines(
    attributionLine("commit messages", attribution.commit),
    attributionLine("pull requests", attribution.pullRequest),
  );
}

function attributionLine(where: string, value: string): string {
  // "enabled" leaves the wording to the client, which adds it by itself.
  if (value === "" || value === "enabled") return "";
  return value === "disabled"
    ? `Add no line of credit to ${where}.`
    : `When you write ${where}, end them with this credit: ${value}`;
}
