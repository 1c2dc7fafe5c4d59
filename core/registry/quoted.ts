const longest = 300;

/** A registry's text as an error can show it: on one line, and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.slice(0, longest)).replaceAll(unprintable, (character) => {
    const hex = character.charCodeAt(0).toString(16).padStart(4, '0');
    return `\\u${hex}`;
  });
}

/** Control characters that JSON allows. */
const unprintable = /\p{Cc}/gu;
