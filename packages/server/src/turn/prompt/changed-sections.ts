import { block } from "./markup.js";
import { type ConfiguredName, type Section, sectionIntroductions } from "./section.js";

/**
 * The configured sections (environment, rules, project instructions, skills, ...) that no longer read as the model was
 * last told, so that a change reaches later turns without touching the prefix (I-123, I-133). `systemText` is the system
 * message; append the later messages that announced changes, and a change is announced once and not every turn. A
 * section that is gone is returned with a text that says so, unless the environment is missing too: then the client did
 * not tell, which takes nothing back. General instructions never count as changed.
 */
export function changedSections(systemText: string, now: readonly Section[]): Section[] {
  const names = Object.keys(sectionIntroductions) as ConfiguredName[];
  const isContextKnown = now.some((section) => section.name === "environment");
  return names.flatMap((name) => {
    const given = now.find((one) => one.name === name);
    if (!given && !isContextKnown && name !== "custom_instructions") return [];
    const section = given ?? { name, text: goneText(name) };
    const at = systemText.lastIndexOf(openingOf(name));
    const goneAt = systemText.lastIndexOf(goneText(name));
    // What was told last counts: rules that changed and changed back have to be told again.
    const isTold = systemText.startsWith(section.text, Math.max(at, goneAt));
    const isNews = given ? !isTold : at > goneAt;
    return isNews ? [section] : [];
  });
}

function openingOf(name: ConfiguredName): string {
  return `<${name}>\n${sectionIntroductions[name]}\n\n`;
}

function goneText(name: ConfiguredName): string {
  return block(name, {}, "There are none any more; what was said here before no longer holds.");
}
