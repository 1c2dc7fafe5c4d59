const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** What XML has no place for. */
const invalid = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** What turns the direction of text, and so could show another name than there is. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * A text as it stands in SVG and HTML, in elements and in quoted attributes. Names and messages of a
 * catalog are anybody's: none becomes markup, and none hides what it is.
 */
export function markup(text: string): string {
  return text
    .replace(invalid, '\ufffd')
    .replace(turning, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** The same for a text that has at most so many characters where it is shown. */
export function shortMarkup(text: string, most: number): string {
  const start = Array.from(text.slice(0, 2 * most + 2));
  return markup(start.length <= most ? text : `${start.slice(0, most - 1).join('')}…`);
}
