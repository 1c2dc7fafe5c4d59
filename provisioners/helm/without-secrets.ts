import { isObject } from '../../api/spec-config.ts';
import { errorMessage, type JsonValue, TerminalError } from '../../core/sdk.ts';

/** Shorter values occur in every text and are not worth hiding. */
const shortest = 4;
const shown = '<of a Secret>';

/**
 * A text without the values that came from Secrets: a chart may `fail` with them, and a schema
 * quotes what it refuses.
 */
export function withoutSecrets(text: string, secrets: readonly JsonValue[]): string {
  const found = new Set(secrets.flatMap(leaves).flatMap(forms));
  return [...found]
    .filter((secret) => secret.length >= shortest)
    .sort((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, () => shown), text);
}

/** The same of an error, whose cause holds them as well. */
export function errorWithoutSecrets(error: unknown, secrets: readonly JsonValue[]): unknown {
  if (secrets.length === 0) return error;
  const message = withoutSecrets(errorMessage(error), secrets);
  return error instanceof TerminalError ? new TerminalError(message) : new Error(message);
}

function leaves(value: JsonValue | undefined): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item: JsonValue) => leaves(item));
  if (isObject(value)) return Object.values(value).flatMap((item) => leaves(item as JsonValue));
  if (typeof value === 'string') return [value];
  return typeof value === 'number' || typeof value === 'bigint' ? [value.toString()] : [];
}

/** As templates and messages write a text: as it is, quoted, line by line, in base64 and in a URL. */
function forms(text: string): readonly string[] {
  const quoted = JSON.stringify(text).slice(1, -1);
  return [
    text,
    quoted,
    quoted.replaceAll(/[<>&]/g, goEscape),
    ...text.split('\n'),
    Buffer.from(text).toString('base64'),
    encodeURIComponent(text.toWellFormed()),
  ];
}

/** As Go's JSON has what HTML could take for its own. */
function goEscape(character: string): string {
  return `\\u00${character.charCodeAt(0).toString(16)}`;
}
