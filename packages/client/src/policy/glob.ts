/**
 * A path pattern as an expression for whole paths with `/`: `*` and `?` stay within a name, `**` spans folders, `{a,b}`
 * chooses. All other characters stand for themselves.
 */
export function pathGlob(pattern: string): RegExp {
  return new RegExp(`^${translate(pattern, "[^/]")}$`, "s");
}

/** A text pattern for commands, tools and addresses: `*` stands for any characters. */
export function textGlob(pattern: string): RegExp {
  return new RegExp(`^${translate(pattern, "[^]")}$`, "s");
}

function translate(pattern: string, one: string): string {
  let expression = "";
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at] ?? "";
    if (pattern.startsWith("**/", at)) {
      expression += "(?:[^]*/)?";
      at += 2;
    } else if (pattern.startsWith("**", at)) {
      expression += "[^]*";
      at += 1;
    } else if (character === "*") expression += `${one}*`;
    else if (character === "?") expression += one;
    else if (character === "{" && pattern.indexOf("}", at) > 0) {
      depth += 1;
      expression += "(?:";
    } else if (character === "}" && depth > 0) {
      depth -= 1;
      expression += ")";
    } else if (character === "," && depth > 0) expression += "|";
    else expression += character.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  }
  return expression + ")".repeat(depth);
}
