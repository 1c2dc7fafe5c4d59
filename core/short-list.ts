/** For messages, whose length is limited: the first texts, and how many there are besides. */
export function shortList(texts: readonly string[], most: number): string {
  const more = texts.length - most;
  return `${texts.slice(0, most).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
