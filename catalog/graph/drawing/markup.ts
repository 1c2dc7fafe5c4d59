const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that XML does not allow. */
const invalid = /[^\t\n\r\u0020-\u007e\u0085\u00a0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Characters that change the text direction, and so could disguise a name. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Escapes a text for SVG and HTML, in elements and in quoted attributes. Names and messages of a
 * catalog are untrusted: none becomes markup, and none can disguise itself.
 */
export function markup(text: string): string {
  return text
    .replace(invalid, '\ufffd')
    .replace(turning, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

/** The same for a text, cut to `most` characters. */
export function shortMarkup(text: string, most: number): string {
  const start = Array.from(text.slice(0, 2 * most + 2));
  return markup(start.length <= most ? text : `${start.slice(0, most - 1).join('')}…`);
}
