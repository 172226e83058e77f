/** What a client's sandbox wants to know about a command before it runs it (`ShellCommandParsingResult`). */
export interface ParsedCommand {
  readonly parsingFailed: boolean;
  readonly executableCommands?: Command[];
  readonly hasRedirects?: boolean;
  readonly allRedirectsAreDevNull?: boolean;
  readonly redirects?: Redirect[];
}

interface Argument {
  readonly type: "word" | "string" | "raw_string" | "concatenation" | "simple_expansion";
  readonly value: string;
}

interface Command {
  readonly name: string;
  readonly args: Argument[];
  readonly fullText: string;
}

interface Redirect {
  readonly operator: string;
  readonly targetNodeType: string;
  readonly targetText: string;
}

type Token =
  | {
      readonly kind: "word";
      readonly type: Argument["type"];
      readonly value: string;
      readonly start: number;
      readonly end: number;
    }
  | { readonly kind: "operator"; readonly text: string }
  | { readonly kind: "redirect"; readonly text: string };

/** Words that open compound commands: what they run cannot be told by splitting. */
const keywords = new Set(
  "if then else elif fi for while until do done case esac select function time coproc eval exec source . [[ { } !".split(
    " ",
  ),
);

/**
 * Splits a POSIX shell command into the commands it runs. In any doubt (substitutions, groups, loops, here-documents,
 * unknown quoting, Windows shells) it says that parsing failed: a wrong list could get past a client's policy, a
 * missing one only makes it stricter.
 */
export function parseCommand(command: string, windows: boolean): ParsedCommand {
  const failed = { parsingFailed: true };
  if (windows) return failed;
  const tokens = tokenise(command);
  if (tokens === null) return failed;
  const executableCommands: Command[] = [];
  const redirects: Redirect[] = [];
  let words: Extract<Token, { kind: "word" }>[] = [];
  let awaitsCommand = false;
  const close = (): boolean => {
    const parsed = commandOf(words, command);
    words = [];
    if (parsed) executableCommands.push(parsed);
    return parsed !== null;
  };
  for (let index = 0; index < tokens.length; index++) {
    const token = tokens[index];
    if (!token) break;
    if (token.kind === "word") words.push(token);
    else if (token.kind === "redirect") {
      const target = tokens[index + 1];
      if (target?.kind !== "word") return failed;
      redirects.push({ operator: token.text, targetNodeType: target.type, targetText: target.value });
      index += 1;
    } else {
      const separates = token.text === "\n" || token.text === ";";
      if (words.length === 0 && token.text === "\n") continue;
      if (!close()) return failed;
      awaitsCommand = !separates && token.text !== "&";
    }
  }
  if (words.length > 0 ? !close() : awaitsCommand) return failed;
  if (executableCommands.length === 0) return failed;
  // `2>&1` joins two streams and writes no file.
  const toNull = redirects.every(({ operator, targetText }) => targetText === "/dev/null" || operator.endsWith(">&"));
  return {
    parsingFailed: false,
    executableCommands,
    hasRedirects: redirects.length > 0,
    ...(redirects.length > 0 ? { redirects, allRedirectsAreDevNull: toNull } : {}),
  };
}

function commandOf(words: readonly Extract<Token, { kind: "word" }>[], source: string): Command | null {
  const isAssignment = (word: { value: string; type: string }) =>
    word.type !== "raw_string" && /^[A-Za-z_]\w*\+?=/.test(word.value);
  const first = words.findIndex((word) => !isAssignment(word));
  const name = words[first];
  const last = words[words.length - 1];
  // A name that is computed, quoted in part or a keyword tells nothing sure about what runs.
  if (!name || !last || keywords.has(name.value) || name.type === "simple_expansion" || name.type === "concatenation")
    return null;
  if (name.value === "" || /[*?[~$]/.test(name.value)) return null;
  const args = words.slice(first + 1).map(({ type, value }) => ({ type, value }));
  return { name: name.value, args, fullText: source.slice(words[0]?.start ?? name.start, last.end) };
}

function tokenise(source: string): Token[] | null {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at, at + 3);
    const character = rest[0] ?? "";
    if (character === " " || character === "\t") at += 1;
    else if (rest.startsWith("\\\n")) at += 2;
    else if (character === "#") at = endOfLine(source, at);
    else if (character === "\n") {
      tokens.push({ kind: "operator", text: "\n" });
      at += 1;
    } else if ("()`".includes(character) || rest.startsWith("<<") || rest.startsWith("<(") || rest.startsWith(">("))
      return null;
    else {
      const redirect = /^(?:\d?(?:>>|>&|>\||<&|>|<)|&>>|&>)/.exec(source.slice(at, at + 4));
      const operator = /^(?:&&|\|\||;;|\|&|;|\||&)/.exec(rest);
      if (redirect) {
        tokens.push({ kind: "redirect", text: redirect[0] });
        at += redirect[0].length;
      } else if (operator) {
        if (operator[0] === ";;") return null;
        tokens.push({ kind: "operator", text: operator[0] });
        at += operator[0].length;
      } else {
        const word = readWord(source, at);
        if (word === null) return null;
        tokens.push(word);
        at = word.end;
      }
    }
  }
  return tokens;
}

function readWord(source: string, start: number): Extract<Token, { kind: "word" }> | null {
  const kinds = new Set<Argument["type"]>();
  let value = "";
  let at = start;
  while (at < source.length) {
    const character = source[at] ?? "";
    if (" \t\n;&|<>()`".includes(character)) break;
    if (character === "'") {
      const end = source.indexOf("'", at + 1);
      if (end < 0) return null;
      value += source.slice(at + 1, end);
      kinds.add("raw_string");
      at = end + 1;
    } else if (character === '"') {
      const quoted = readQuoted(source, at + 1);
      if (quoted === null) return null;
      value += quoted.value;
      kinds.add("string");
      at = quoted.end;
    } else if (character === "\\") {
      if (at + 1 >= source.length) return null;
      if (source[at + 1] !== "\n") value += source[at + 1];
      kinds.add("word");
      at += 2;
    } else if (character === "$") {
      const expansion = /^\$(?:[A-Za-z_]\w*|\{[A-Za-z_]\w*\}|[0-9?#@*!$-])/.exec(source.slice(at, at + 200));
      if (!expansion) return null;
      value += expansion[0];
      kinds.add("simple_expansion");
      at += expansion[0].length;
    } else {
      value += character;
      kinds.add("word");
      at += 1;
    }
  }
  if (source[at] === "(" || source[at] === ")" || source[at] === "`") return null;
  const [only] = kinds;
  return { kind: "word", type: kinds.size === 1 && only ? only : "concatenation", value, start, end: at };
}

function readQuoted(source: string, start: number): { value: string; end: number } | null {
  let value = "";
  for (let at = start; at < source.length; at++) {
    const character = source[at] ?? "";
    if (character === '"') return { value, end: at + 1 };
    if (character === "`") return null;
    if (character === "$" && /^\$(?:\(|\{(?![A-Za-z_]\w*\}))/.test(source.slice(at, at + 200))) return null;
    if (character === "\\" && '"\\$`\n'.includes(source[at + 1] ?? " ")) {
      at += 1;
      value += source[at] === "\n" ? "" : (source[at] ?? "");
    } else value += character;
  }
  return null;
}

function endOfLine(source: string, at: number): number {
  const end = source.indexOf("\n", at);
  return end < 0 ? source.length : end;
}
