/** What is wrong with the form of an expression, as far as one sees without evaluating it. */
export function promqlProblem(expression: string): string | undefined {
  const bare = expression.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  if (bare.includes('"'.repeat(3))) return 'quotes that do not match';
  const open: string[] = [];
  const closes: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' };
  for (const character of bare) {
    if ('({['.includes(character)) open.push(character);
    const opening = closes[character];
    if (opening !== undefined && open.pop() !== opening) return `"${character}" closes nothing`;
  }
  if (open.length > 0) return `"${open.at(-1)}" is not closed`;
  return /(^|[(,])\s*[*/<>=]|[-+*/<>=]\s*($|[),])/.test(bare)
    ? 'an operator lacks a side'
    : undefined;
}

const words = new Set(['by', 'and', 'or', 'unless', 'on', 'ignoring', 'offset', 'bool', 'without']);

/** The metrics that an expression names. */
export function metricsOf(expression: string): readonly string[] {
  const bare = expression
    .replace(/"(?:[^"\\]|\\.)*"/g, '""')
    .replace(/\{[^}]*\}|\[[^\]]*\]/g, '')
    .replace(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '');
  const names = bare.match(/[a-zA-Z_:][a-zA-Z0-9_:]*(?!\s*\(|[a-zA-Z0-9_:])/g) ?? [];
  return [...new Set(names)].filter((name) => !words.has(name));
}
