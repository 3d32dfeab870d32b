/** Highlighting of SPARQL and of rules: one pass over each line, no syntax tree. */

import { StreamLanguage, type StreamParser, type StringStream } from "@codemirror/language";

interface State {
  /** The quotes of a long text that began on an earlier line; "" outside of one. */
  quotes: string;
}

const KEYWORDS = new Set(
  `base prefix select construct describe ask where from named distinct reduced order by asc desc
  group having limit offset values undef union optional minus graph service silent bind as filter
  exists not in insert delete data load clear drop create add move copy to into default all using
  with a true false separator version`
    .trim()
    .split(/\s+/),
);

const FUNCTIONS = new Set(
  `count sum min max avg sample group_concat str lang langmatches datatype bound iri uri bnode rand
  abs ceil floor round concat strlen ucase lcase encode_for_uri contains strstarts strends strbefore
  strafter year month day hours minutes seconds timezone tz now uuid struuid md5 sha1 sha256 sha384
  sha512 coalesce if strlang strdt sameterm isiri isuri isblank isliteral isnumeric regex substr
  replace triple subject predicate object istriple langdir strlangdir haslang haslangdir`
    .trim()
    .split(/\s+/),
);

const RULE_WORDS = new Set(
  "prefix base not aggregate on bind filter and or as in exists a true false count sum min max avg"
    .split(" "),
);

const IRI = /^<[^<>"{}|^`\\\s]*>/;
const VARIABLE = /^[?$][\p{L}\p{N}_·]+/u;
const PREFIXED = /^[\p{L}_]?[\p{L}\p{N}_.-]*:([\p{L}\p{N}_:%.\\-]*[\p{L}\p{N}_:%\\-])?/u;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/;
const WORD = /^[A-Za-z_][\w-]*/;

function parser(words: Set<string>, functions: Set<string>, comment: RegExp): StreamParser<State> {
  return {
    name: "sparql",
    startState: () => ({ quotes: "" }),
    copyState: (state) => ({ ...state }),
    token(stream, state) {
      if (state.quotes) return longText(stream, state);
      if (stream.eatSpace()) return null;
      if (stream.match(comment)) {
        stream.skipToEnd();
        return "comment";
      }
      if (stream.match(/^("""|''')/)) {
        state.quotes = stream.current();
        return longText(stream, state);
      }
      if (stream.match(/^"([^"\\\n]|\\.)*"?/) || stream.match(/^'([^'\\\n]|\\.)*'?/)) return "string";
      if (stream.match(/^@(prefix|base)\b/)) return "keyword";
      if (stream.match(/^@[A-Za-z]+(-[A-Za-z0-9]+)*/)) return "meta";
      if (stream.match(IRI)) return "link";
      if (stream.match(VARIABLE)) return "variableName";
      if (stream.match(/^_:[\p{L}\p{N}_.-]+/u)) return "atom";
      if (stream.match(PREFIXED)) return "typeName";
      if (stream.match(NUMBER)) return "number";
      if (stream.match(WORD)) return word(stream.current().toLowerCase(), words, functions);
      if (stream.match(/^[{}()[\]]/)) return "bracket";
      stream.next();
      return "punctuation";
    },
    languageData: {
      commentTokens: { line: "#" },
      closeBrackets: { brackets: ["(", "[", "{", '"', "'"] },
    },
  };
}

function longText(stream: StringStream, state: State): string {
  while (!stream.eol()) {
    if (stream.match(state.quotes)) {
      state.quotes = "";
      return "string";
    }
    if (stream.next() === "\\") stream.next();
  }
  return "string";
}

function word(text: string, words: Set<string>, functions: Set<string>): string | null {
  if (text === "true" || text === "false") return "bool";
  if (words.has(text)) return "keyword";
  return functions.has(text) ? "variableName.function" : null;
}

export const sparqlLanguage = StreamLanguage.define(parser(KEYWORDS, FUNCTIONS, /^#/));
export const rulesLanguage = StreamLanguage.define(parser(RULE_WORDS, FUNCTIONS, /^(#|%|\/\/)/));

/** The tokens of a text, for tests: [text, kind] without spaces. */
export function tokensOf(text: string, of: "sparql" | "rules" = "sparql"): [string, string | null][] {
  const language = of === "sparql" ? sparqlLanguage : rulesLanguage;
  const found: [string, string | null][] = [];
  language.parser.parse(text).iterate({
    enter: (node) => {
      if (node.from < node.to && !node.type.isTop) {
        found.push([text.slice(node.from, node.to), node.name]);
      }
    },
  });
  return found;
}
