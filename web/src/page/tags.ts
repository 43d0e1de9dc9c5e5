// Element kinds that the walk treats alike, by tag name.

/** Nothing of these is ever rendered as content. */
export const SKIPPED = new Set([
  "script", "style", "template", "head", "meta", "link", "base", "param", "source", "track", "col",
  "colgroup", "datalist", "noscript", "noembed", "noframes", "rp",
]);
/** Elements whose children are no content, or not content that is shown. */
export const LEAVES = new Set([
  "input", "img", "br", "hr", "wbr", "iframe", "frame", "embed", "video", "audio", "canvas",
  "textarea", "progress", "meter", "area",
]);
/** Inline by style, but a box of their own. */
export const REPLACED = new Set(["img", "svg", "input", "video", "audio", "canvas", "iframe", "embed",
  "object", "select", "textarea", "button", "meter", "progress"]);
/** Parts of a drawing that can hold text or links. */
export const DRAWN = new Set(["svg", "g", "a", "text", "tspan", "textPath", "title", "desc", "switch",
  "foreignObject", "symbol", "use", "image"]);
/** Elements without a number of their own unless something about them matters. */
export const PLAIN = new Set([
  "div", "span", "p", "b", "i", "em", "strong", "u", "s", "small", "big", "code", "pre", "kbd",
  "samp", "var", "sub", "sup", "td", "tr", "tbody", "thead", "tfoot", "li", "ul", "ol", "dl", "dt",
  "dd", "br", "wbr", "hr", "html", "body", "font", "center", "mark", "time", "abbr", "cite", "q",
  "blockquote", "section", "article", "slot", "svg", "g", "tspan", "text", "figure", "tt", "nobr",
]);
/** Elements (and all inside) whose generated text can be part of a name. */
export const NAMED = new Set([
  "a", "button", "label", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "legend", "option",
  "figcaption", "caption", "th",
]);

/** Elements with facts that are no attributes. */
export const LIVE = new Set(["input", "textarea", "select", "option", "button", "progress", "meter", "output"]);
/** Clickable by themselves: their listeners say nothing more. */
export const NATIVE = new Set(["html", "body", "a", "button", "input", "select", "textarea", "label", "option",
  "optgroup", "summary", "area", "iframe", "frame", "br", "hr", "wbr"]);
/** White space that collapsing would change. */
export const SPACES = /[\t\n\r\f]|  /;
/** So many elements of one kind without generated text speak for the rest. */
export const KIND_SAMPLES = 8;

/** Possible hosts of shadow roots (DOM, "attach a shadow root"), custom elements apart. */
export const HOSTS = new Set([
  "article", "aside", "blockquote", "body", "div", "footer", "h1", "h2", "h3", "h4", "h5", "h6",
  "header", "main", "nav", "p", "section", "span",
]);
