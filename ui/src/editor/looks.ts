/** Colours of the editor, from the variables of the page, which reach into the shadow root. */

import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: tags.keyword, color: "var(--code-keyword)", fontWeight: "600" },
  { tag: tags.function(tags.variableName), color: "var(--code-keyword)" },
  { tag: [tags.string, tags.bool], color: "var(--code-string)" },
  { tag: [tags.number, tags.meta, tags.atom], color: "var(--code-number)" },
  { tag: [tags.link, tags.typeName], color: "var(--code-iri)" },
  { tag: tags.variableName, color: "var(--code-variable)" },
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
]);

const shapes = EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--paper)", color: "var(--ink)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-content": { caretColor: "var(--ink)", padding: "10px 0" },
  ".cm-line": { padding: "0 12px 0 8px" },
  ".cm-gutters": {
    backgroundColor: "var(--paper)",
    color: "var(--muted)",
    border: "none",
    paddingLeft: "6px",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent-tint) 45%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "transparent", color: "var(--ink)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)" },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": {
    backgroundColor: "var(--accent-tint)",
    outline: "1px solid var(--line-strong)",
  },
  ".cm-placeholder": { color: "var(--muted)" },
  // The usual underline is a data: image, which the Content-Security-Policy refuses.
  ".cm-lintRange-error, .cm-lintRange-error.cm-lintRange-active": {
    backgroundImage: "none",
    backgroundColor: "var(--bad-tint)",
    textDecoration: "underline wavy var(--bad)",
    textDecorationSkipInk: "none",
    textUnderlineOffset: "3px",
  },
  ".cm-lintPoint-error:after": { borderBottomColor: "var(--bad)" },
  ".cm-lint-marker-error": {
    content: '""',
    width: "8px",
    height: "8px",
    borderRadius: "50%",
    backgroundColor: "var(--bad)",
  },
  ".cm-tooltip": {
    border: "1px solid var(--line)",
    borderRadius: "6px",
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    boxShadow: "var(--shadow)",
    fontFamily: "var(--sans)",
  },
  ".cm-tooltip-lint": { maxWidth: "520px" },
  ".cm-diagnostic": { padding: "6px 10px", borderLeft: "3px solid var(--bad)" },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--sans)",
    maxHeight: "18em",
    maxWidth: "min(560px, 92vw)",
    padding: "4px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    alignItems: "baseline",
    gap: "10px",
    padding: "3px 8px",
    borderRadius: "4px",
    lineHeight: "1.5",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": {
    backgroundColor: "var(--accent-tint)",
    color: "var(--ink)",
  },
  ".cm-completionLabel": { fontFamily: "var(--mono)", fontSize: "12.5px" },
  ".cm-completionDetail": {
    flex: "1 1 auto",
    marginLeft: "0",
    fontStyle: "normal",
    color: "var(--muted)",
    overflow: "hidden",
    textOverflow: "ellipsis",
  },
  ".completion-kind": { color: "var(--muted)", fontSize: "12px", whiteSpace: "nowrap" },
});

export const looks = [shapes, syntaxHighlighting(colours)];
