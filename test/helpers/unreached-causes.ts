import type { Cause } from '../../cmd/ctl/status/source-causes.ts';

/** Rows of a table that decide about none of these messages: hidden by an earlier row, or untested. */
export function unreachedRows(
  table: readonly Cause[],
  messages: readonly string[],
): readonly string[] {
  const reached = new Set(messages.map((message) => table.find(([text]) => text.test(message))));
  return table.filter((row) => !reached.has(row)).map(([text]) => text.source);
}
