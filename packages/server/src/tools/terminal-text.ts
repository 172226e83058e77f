/*
 * Control sequences of terminals, each form bounded by characters it cannot contain, so that matching stays linear:
 * CSI, OSC/DCS/PM/APC/SOS strings, two-character escapes.
 */
const escapes = new RegExp(
  [
    "\\u001b\\[[0-?]*[ -/]*[@-~]",
    "\\u001b[\\]PX^_][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\)?",
    "\\u001b[ -/]*[0-~]?",
    "\\u009b[0-?]*[ -/]*[@-~]",
  ].join("|"),
  "g",
);
// oxlint-disable-next-line no-control-regex -- these characters are what is looked for
const controls = /[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/**
 * What a terminal's screen would be left with, for a reader who sees no colours: no escape sequences, of lines that
 * were overwritten with carriage returns (progress bars) the last state, no control characters but tab and newline.
 */
export function terminalText(raw: string): string {
  let text = raw.includes("\u001b") || raw.includes("\u009b") ? raw.replace(escapes, "") : raw;
  if (text.includes("\b")) text = applyBackspaces(text);
  if (text.includes("\r")) text = text.split("\n").map(lastState).join("\n");
  return text.replace(controls, "");
}

function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r");
  for (let index = states.length - 1; index > 0; index--) {
    const state = states[index];
    if (state) return state;
  }
  return states[0] ?? "";
}

function applyBackspaces(text: string): string {
  const kept: string[] = [];
  for (const character of text) {
    if (character !== "\b") kept.push(character);
    else if (kept.length > 0 && kept[kept.length - 1] !== "\n") kept.pop();
  }
  return kept.join("");
}
