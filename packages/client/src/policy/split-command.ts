/** One program call of a command line. */
export interface CommandPart {
  readonly text: string;
  readonly words: readonly string[];
}

/** A command line taken apart. Opaque: something in it hides what runs, so the parts may not be all. */
export interface SplitCommand {
  readonly parts: readonly CommandPart[];
  /** Files that redirections write to. */
  readonly written: readonly string[];
  readonly opaque: boolean;
}

const operators = ["&&", "||", ";;", "|&", ";", "|", "&", "\n", "(", ")"];
const keywords =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|select|function|time|\{|\}|!|\[\[|coproc)$/;

/**
 * Splits a POSIX command line at its operators. Substitutions, here-documents and computed program names make it opaque;
 * the parts that could be told apart are returned all the same, so that a rule against one of them still finds it.
 */
export function splitCommand(line: string): SplitCommand {
  const parts: CommandPart[] = [];
  const written: string[] = [];
  let opaque = false;
  let words: string[] = [];
  let start = 0;
  let at = 0;
  let awaitsFile = false;
  const close = (end: number): void => {
    const named = dropPrefix(words);
    if (named[0] !== undefined && /[$`*?]/.test(named[0])) opaque = true;
    if (named.length > 0) parts.push({ text: line.slice(start, end).trim(), words: named });
    words = [];
  };
  while (at < line.length) {
    if (line.startsWith("<<", at)) opaque = true;
    const redirect = /^(?:\d*|&)(?:>>|>\||>&|<>|>|<)(?!\()/.exec(line.slice(at, at + 8));
    const operator = redirect ? undefined : operators.find((each) => line.startsWith(each, at));
    if (operator !== undefined) {
      if (operator === "(" || operator === ")") opaque = true;
      close(at);
      at += operator.length;
      start = at;
    } else if (redirect) {
      at += redirect[0].length;
      const joins = redirect[0].endsWith(">&") && /^[\d-]/.test(line.slice(at));
      if (joins) at += 1;
      awaitsFile = redirect[0].includes(">") && !joins;
    } else if (/[ \t]/.test(line[at] ?? "") || line.startsWith("\\\n", at)) at += line[at] === "\\" ? 2 : 1;
    else if (line[at] === "#" && (at === 0 || /\s/.test(line[at - 1] ?? ""))) {
      const end = line.indexOf("\n", at);
      at = end < 0 ? line.length : end;
    } else {
      const word = readWord(line, at);
      opaque ||= word.opaque;
      at = word.end;
      if (awaitsFile) written.push(word.value);
      else words.push(word.value);
      awaitsFile = false;
    }
  }
  close(line.length);
  return { parts, written, opaque };
}

/** Leaves out variables that are set for the call, and words of the shell's grammar. */
function dropPrefix(words: readonly string[]): string[] {
  const first = words.findIndex((word) => !keywords.test(word) && !/^[A-Za-z_]\w*\+?=/.test(word));
  return first < 0 ? [] : words.slice(first);
}

function readWord(line: string, from: number): { value: string; end: number; opaque: boolean } {
  let value = "";
  let opaque = false;
  let at = from;
  while (at < line.length && !/[\s;&|<>()]/.test(line[at] ?? "")) {
    const character = line[at] ?? "";
    if (character === "'") {
      const end = line.indexOf("'", at + 1);
      value += line.slice(at + 1, end < 0 ? line.length : end);
      at = end < 0 ? line.length : end + 1;
      opaque ||= end < 0;
    } else if (character === '"') {
      const closing = /^"((?:[^"\\]|\\[^])*)"/.exec(line.slice(at));
      const text = closing?.[1] ?? line.slice(at + 1);
      opaque ||= !closing || /\$\(|`/.test(text);
      value += text.replace(/\\(["\\$`])/g, "$1");
      at = closing ? at + closing[0].length : line.length;
    } else if (character === "\\") {
      value += line[at + 1] ?? "";
      at += 2;
    } else {
      opaque ||= character === "`" || line.startsWith("$(", at) || line.startsWith("${", at);
      value += character;
      at += 1;
    }
  }
  // A lone operator character, as of a process substitution: step over it, or the reader would stand still.
  if (at === from) return { value: line[at] ?? "", end: at + 1, opaque: true };
  return { value, end: at, opaque };
}
