/** A value that is read into a text: numbers and booleans are what they are written as. */
export function scalarText(value: unknown): string {
  if (typeof value === 'string') return value;
  return isScalar(value) ? value.toString() : '';
}

function isScalar(value: unknown): value is number | bigint | boolean {
  return ['number', 'bigint', 'boolean'].includes(typeof value);
}
